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
