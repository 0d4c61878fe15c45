// Runs before the page is drawn: the theme that the reader chose, and a mark that scripts are at work.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  let theme = null;
  try { theme = localStorage.getItem("theme"); } catch { /* storage is off: the system's theme */ }
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const label = () => { button.setAttribute("aria-label", isDark() ? "Use the light theme" : "Use the dark theme"); };
    label();
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* as above */ }
      label();
    });
  });
})();
