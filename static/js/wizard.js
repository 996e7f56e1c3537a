// Enhancements of the questionnaire; every page works without this file.

// A page that the browser brings back from memory may be older than what was saved since.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

// Copy the link of the plan.
for (const button of document.querySelectorAll("[data-copy]")) {
  const input = document.getElementById(button.dataset.copy);
  const status = document.querySelector("[data-copied]");
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    input.select();
    await navigator.clipboard.writeText(input.value);
    status.textContent = status.dataset.copied;
  });
}

// Whoever types knows the answer after all.
document.addEventListener("input", (event) => {
  const box = event.target.name && document.querySelector(`[type="checkbox"][name="${event.target.name}_unknown"]`);
  if (box) box.checked = false;
});

// A file that is chosen shows in the box at once, so that the estimate can count with it. What is no small text, the
// server answers when the page is saved.
for (const input of document.querySelectorAll("[data-into]")) {
  const box = document.getElementById(input.dataset.into);
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (!file || file.size > Number(input.dataset.most)) return;
    try {
      box.value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      box.dispatchEvent(new Event("input", { bubbles: true }));
    } catch {
      return;
    }
  });
  box.addEventListener("input", (event) => {
    if (event.isTrusted) input.value = "";
  });
}
