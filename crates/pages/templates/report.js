"use strict";
(() => {
  // Tooltips: the nearest point within reach, at once, also by keyboard and touch. Without this script the native ones remain.
  var box = document.createElement("div");
  box.className = "tooltip";
  box.hidden = true;
  document.body.appendChild(box);
  var shown = null;
  function hide() {
    if (shown) shown.classList.remove("on");
    shown = null;
    box.hidden = true;
  }
  function show(tip) {
    if (shown === tip) return;
    hide();
    shown = tip;
    tip.classList.add("on");
    box.textContent = tip.dataset.tip;
    box.hidden = false;
    var at = tip.getBoundingClientRect();
    var left = at.left + at.width / 2 - box.offsetWidth / 2;
    left = Math.max(8, Math.min(left, document.documentElement.clientWidth - box.offsetWidth - 8));
    var top = at.top - box.offsetHeight - 6;
    box.style.left = left + window.scrollX + "px";
    box.style.top = (top < 8 ? at.bottom + 6 : top) + window.scrollY + "px";
  }
  document.querySelectorAll("svg.chart").forEach(chart => {
    var tips = Array.prototype.slice.call(chart.querySelectorAll(".tips circle"));
    tips.forEach(tip => {
      var title = tip.querySelector("title");
      tip.dataset.tip = title.textContent;
      title.remove();
    });
    chart.addEventListener("pointermove", event => {
      var best = null, distance = 40 * 40;
      tips.forEach(tip => {
        var at = tip.getBoundingClientRect();
        var dx = at.left + at.width / 2 - event.clientX, dy = at.top + at.height / 2 - event.clientY;
        if (dx * dx + dy * dy < distance) { distance = dx * dx + dy * dy; best = tip; }
      });
      if (best) show(best); else hide();
    });
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", event => {
      var step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step || !tips.length) return;
      event.preventDefault();
      show(tips[(tips.indexOf(shown) + step + tips.length) % tips.length]);
    });
  });
  // Where a table folds, each cell says the head of its column.
  document.querySelectorAll("table.folds:not(:has([data-h]))").forEach(table => {
    var heads = table.tHead.rows[0].cells;
    table.querySelectorAll("tbody td").forEach(cell => {
      cell.dataset.h = heads[cell.cellIndex].textContent;
    });
  });
  // What a link leads to is opened; most browsers do so themselves.
  function open() {
    var at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var it = at; it; it = it.parentElement) if (it.tagName === "DETAILS") it.open = true;
    if (at) at.scrollIntoView();
  }
  window.addEventListener("hashchange", open);
  if (location.hash) open();
  // On paper nothing is folded; of a page with a first sheet only that is printed.
  var folded = [];
  window.addEventListener("beforeprint", () => {
    if (document.querySelector(".sheet")) return;
    folded = Array.prototype.slice.call(document.querySelectorAll("details:not([open])"));
    folded.forEach(details => { details.open = true; });
  });
  window.addEventListener("afterprint", () => {
    folded.forEach(details => { details.open = false; });
  });
  // The record as a file: unpacked, its curves made points again, and its histograms texts.
  var button = document.getElementById("download");
  var record = document.getElementById("flashmark-record");
  function numbers(line) {
    return (line.match(/!\d+ |./g) || []).map(it => it[1] ? +it.slice(1) : it.charCodeAt(0) - 35);
  }
  // HdrHistogram V2: a head, then zig-zag numbers of 7 bits a byte.
  function histogram(before, counts) {
    var bytes = [], head = new DataView(new ArrayBuffer(40));
    function add(number) {
      for (; number > 127; number = Math.floor(number / 128)) bytes.push(number % 128 + 128);
      bytes.push(number);
    }
    numbers(counts).forEach((count, i) => {
      if (before[i]) add(2 * before[i] - 1);
      add(2 * count);
    });
    [0x1c849313, bytes.length, 0, 3, 0, 1, 838, 817405952].forEach((word, i) => { head.setUint32(4 * i, word); });
    head.setFloat64(32, 1);
    return btoa(Array.from(new Uint8Array(head.buffer)).concat(bytes).map(byte => String.fromCharCode(byte)).join(""));
  }
  function points(text) {
    var lines = text.split("\n"), curves = (lines[0].match(/"packed":\[\]/g) || []).length;
    var counted = (lines.length - 1) / 2 - curves, curve = 0, nth = 2 * curves;
    return lines[0].replace(/"packed":\[\]/g, () => {
      var at = 0, values = lines[++curve + curves].split(","), zeros = values.shift();
      return '"points":[' + lines[curve].split(",").map((step, i) => {
        at += +step;
        return "[" + at + "," + values[i] + zeros + "]";
      }).join(",") + "]";
    }).replace(/"histogram":""/g, () => {
      return '"histogram":"' + histogram(numbers(lines[++nth]), lines[nth + counted]) + '"';
    });
  }
  function text() {
    var bytes = Uint8Array.from(atob(record.textContent), c => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text().then(points);
  }
  if (button && record && window.DecompressionStream) {
    button.hidden = false;
    button.addEventListener("click", () => {
      text().then(json => {
        var link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([json], { type: "application/json" }));
        link.download = document.getElementById("raw").dataset.file;
        link.click();
        setTimeout(() => { URL.revokeObjectURL(link.href); }, 10000);
      });
    });
  }
})();
