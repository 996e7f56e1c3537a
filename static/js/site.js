// Enhancements only: every page works without this file.

// ── colour scheme: automatic, light, dark ───────────────────────────────────────────────────────────────────────
const themeSwitch = document.querySelector("[data-theme-switch]");
if (themeSwitch) {
  const buttons = themeSwitch.querySelectorAll("button[value]");
  const show = () => {
    const chosen = document.documentElement.dataset.theme ?? "auto";
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === chosen));
  };
  themeSwitch.addEventListener("click", (event) => {
    const choice = event.target.closest("button[value]")?.value;
    if (!choice) return;
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    try {
      if (choice === "auto") localStorage.removeItem("theme");
      else localStorage.setItem("theme", choice);
    } catch { /* the choice then lasts for this page only */ }
    show();
  });
  themeSwitch.hidden = false;
  show();
}

// ── tabs: <nav class="tabs"> of anchors to <section class="tab-panel" id> ──────────────────────────────────────
function makeTabs(nav) {
  if (nav.getAttribute("role") === "tablist") return;
  const tabs = [...nav.querySelectorAll("a[href^='#']")];
  const panels = tabs.map((tab) => document.getElementById(tab.hash.slice(1)));
  if (!tabs.length || panels.some((panel) => !panel)) return;
  nav.setAttribute("role", "tablist");
  const select = (index, focus = false) => {
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
      // "until-found" lets the browser's own page search still look inside
      if (i === index) panels[i].removeAttribute("hidden");
      else panels[i].setAttribute("hidden", "until-found");
    });
    if (focus) tabs[index].focus();
  };
  tabs.forEach((tab, i) => {
    tab.id ||= `tab-${panels[i].id}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panels[i].id);
    panels[i].setAttribute("role", "tabpanel");
    panels[i].setAttribute("aria-labelledby", tab.id);
    panels[i].classList.add("tab-panel--live");
    panels[i].addEventListener("beforematch", () => select(i));
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(history.state, "", tab.hash);
      select(i);
    });
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      select((to + tabs.length) % tabs.length, true);
    });
  });
  const showHash = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const index = target ? panels.findIndex((panel) => panel.contains(target)) : -1;
    if (index >= 0) select(index);
    return index >= 0;
  };
  if (!showHash()) select(0);
  window.addEventListener("hashchange", showHash);
}
const makeAllTabs = (root) => root.querySelectorAll("nav.tabs").forEach(makeTabs);
makeAllTabs(document);

// ── wide tables and drawings: only what scrolls is a stop of the Tab key, and it shows that there is more ──────
const seen = (box) => {
  box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
  box.classList.toggle("scroll--more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
};
const scrollers = new ResizeObserver((entries) => entries.forEach(({ target }) => seen(target)));
function watchScrollers(root) {
  for (const box of root.querySelectorAll(".scroll[tabindex]")) {
    scrollers.observe(box);
    box.addEventListener("scroll", () => seen(box), { passive: true });
  }
}
watchScrollers(document);

// ── after a failed submit the summary of errors speaks first ───────────────────────────────────────────────────
document.querySelector(".error-summary")?.focus();

// ── htmx: keep what is unfolded, say what is busy ──────────────────────────────────────────────────────────────
const unfolded = new Set();
const said = document.getElementById("said");
let row = ""; // the field beside what had the focus
document.addEventListener("htmx:beforeSwap", (event) => {
  unfolded.clear();
  row = document.activeElement?.closest(".costs__row")?.querySelector("input, select")?.id ?? "";
  document.querySelectorAll("details[id][open]").forEach((details) => unfolded.add(details.id));
  event.detail.target?.removeAttribute("aria-busy");
});
document.addEventListener("htmx:load", (event) => {
  const root = event.detail.elt;
  const details = [...root.querySelectorAll("details[id]")];
  if (root.matches("details[id]")) details.push(root);
  for (const one of details) if (unfolded.has(one.id)) one.open = true;
  makeAllTabs(root);
  if (root !== document.body) watchScrollers(root);
  // Figures of one's own calculate the page anew: a screen reader hears what it now comes to.
  if (root.id === "main" && !root.querySelector(".error-summary")) {
    said.textContent = root.querySelector(".lead")?.textContent ?? "";
    if (row && document.activeElement === document.body) document.getElementById(row)?.focus(); // its button is gone
  }
});
document.addEventListener("htmx:beforeRequest", (event) => event.detail.target?.setAttribute("aria-busy", "true"));
document.addEventListener("htmx:afterRequest", (event) => event.detail.target?.removeAttribute("aria-busy"));
