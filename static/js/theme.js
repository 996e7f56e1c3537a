// In the head, before the first paint: apply the scheme the reader chose. Without a choice the system decides.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch { /* storage is switched off: follow the system */ }
})();
