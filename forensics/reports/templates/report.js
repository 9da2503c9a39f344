(() => {
  "use strict";
  const say = document.createElement("p");
  say.className = "skip";
  say.setAttribute("aria-live", "polite");
  document.body.append(say);
  const value = (row, at) => {
    const cell = row.cells[at];
    const own = cell.dataset.v;
    return own === undefined ? cell.textContent.trim().toLowerCase() : own === "" ? null : Number(own);
  };
  const compare = (a, b) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  };
  const sort = (table, head, at) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows].map((row) => [value(row, at), row]);
    rows.sort((a, b) => (a[0] === null || b[0] === null || !down ? compare(a[0], b[0]) : compare(b[0], a[0])));
    table.tBodies[0].append(...rows.map((one) => one[1]));
    say.textContent = `sorted by ${head.textContent.trim()}, ${down ? "descending" : "ascending"}`;
  };
  const filter = (label, items, before) => {
    const box = document.createElement("div");
    box.className = "filter";
    const words = document.createElement("label");
    words.textContent = `Filter ${label} `;
    const input = document.createElement("input");
    input.type = "search";
    const shown = document.createElement("span");
    shown.className = "dim";
    shown.setAttribute("role", "status");
    words.append(input);
    box.append(words, shown);
    before.before(box);
    const texts = items.map((item) => item.textContent.toLowerCase());
    let wait = 0;
    input.addEventListener("input", () => {
      clearTimeout(wait);
      wait = setTimeout(() => {
        const parts = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        let left = 0;
        items.forEach((item, at) => {
          item.hidden = !parts.every((part) => texts[at].includes(part));
          left += item.hidden ? 0 : 1;
        });
        shown.textContent = parts.length ? `${left} of ${items.length} shown` : "";
      }, 80);
    });
  };
  for (const table of document.querySelectorAll("table[data-sort]")) {
    const rows = table.tBodies[0].rows;
    if (rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head, at));
    });
    if (rows.length > 7) filter(table.dataset.sort, [...rows], table.closest(".scroll") || table);
  }
  for (const list of document.querySelectorAll("[data-cases]")) {
    const cases = [...list.querySelectorAll(":scope .case")];
    if (cases.length > 7) filter(list.dataset.cases, cases, list);
  }
  const open = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    const target = name && document.getElementById(name);
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", () => {
    for (const one of [...document.querySelectorAll("details:not([open]):not(.aside)")].slice(0, 500)) one.open = true;
  });
})();
