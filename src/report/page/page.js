"use strict";
for (const tool of document.querySelectorAll(".tool")) tool.hidden = false;

// One quantity at a time.
for (const select of document.querySelectorAll("[data-choose]")) {
  const parts = document.querySelectorAll(`[data-of="${select.dataset.choose}"]`);
  const show = () => {
    for (const part of parts) {
      const shown = part.dataset.quantity === select.value;
      part.hidden = !shown;
      part.open = shown;
    }
  };
  select.addEventListener("change", show);
  show();
}

// Tables are sorted by a click on a head; rows without a value come last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const original = [...body.rows];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sign = down ? -1 : 1;
      const key = (row) => {
        const cell = row.cells[column];
        if (column === 0) return original.indexOf(row);
        return cell.dataset.value === "" ? NaN : Number(cell.dataset.value);
      };
      const rows = [...original].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return sign * (x - y);
      });
      body.append(...rows);
    });
  });
}

// Pictures are enlarged.
const dialog = document.getElementById("large");
for (const picture of document.querySelectorAll(".pictures img")) {
  picture.tabIndex = 0;
  picture.setAttribute("role", "button");
  const enlarge = () => {
    const image = dialog.querySelector("img");
    image.src = picture.src;
    image.alt = picture.alt;
    dialog.querySelector("p").textContent = picture.alt;
    dialog.showModal();
  };
  picture.addEventListener("click", enlarge);
  picture.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    enlarge();
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(document.getElementById(button.dataset.copy));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }
  });
}

// On paper all quantities are shown, whatever is chosen on the screen.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const part of closed) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of closed) part.open = false;
});
