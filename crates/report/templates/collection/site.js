"use strict";
(function () {
  var MOST = 8;
  var kept = function (name, value) {
    // A page opened from a file may have no storage: then nothing is remembered.
    try {
      if (value === undefined) return JSON.parse(sessionStorage.getItem(name) || "null");
      sessionStorage.setItem(name, JSON.stringify(value));
    } catch (error) { return null; }
    return null;
  };
  var make = function (tag, attributes, children) {
    var element = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) { element.setAttribute(name, attributes[name]); });
    (children || []).forEach(function (child) {
      if (child !== null) element.append(child);
    });
    return element;
  };

  // The figures as the pages say them: name, head, unit, yardstick, classes.
  var FIGURES = [/* FIGURES */].map(function (it) { return { name: it[0], head: it[1], unit: it[2], stick: it[3], classes: it[4], small: it[2] === "ns" }; });
  var KINDS = {
    "sd": "SD card", "emmc": "eMMC", "usb": "USB stick", "compact-flash": "CompactFlash card", "ssd": "SSD", "nvme": "NVMe SSD", "disk": "hard disk",
    "virtual": "virtual disk", "loop": "loop device", "simulated": "simulated medium", "unknown": "medium of unknown kind"
  };
  var digits = function (value) {
    if (!value) return "0";
    return value.toFixed(Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))));
  };
  var time = function (ns) {
    if (ns < 1e3) return Math.round(ns) + " ns";
    if (ns < 1e6) return digits(ns / 1e3) + " \u00b5s";
    if (ns < 1e9) return digits(ns / 1e6) + " ms";
    return ns < 120e9 ? digits(ns / 1e9) + " s" : (ns / 1e9).toFixed(0) + " s";
  };
  var bare = function (figure, value) {
    return figure.unit === "ns" ? time(value) : digits(figure.unit === "bps" ? value / 1e6 : value);
  };
  var UNITS = { iops: " IOPS", bps: " MB/s", ns: "" };
  var place = function (figure, value) {
    var ratio = value / figure.stick;
    var decimals = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(ratio))));
    var said = ratio.toFixed(decimals) + "\u00d7\u00a0" + (figure.small ? "limit" : "disk");
    var reached = figure.classes.filter(function (it) { return value >= it[1]; }).pop();
    return reached ? said + ", " + reached[0] : said;
  };
  var level = function (figure, value) {
    var times = figure.small ? figure.stick / value : value / figure.stick;
    return [0.1, 1, 5, 20].filter(function (step) { return times >= step; }).length;
  };
  var count = function (n, noun) { return n + " " + noun + (n === 1 ? "" : "s"); };

  // One line of the short form.
  var line = function (row) {
    var figures = {};
    row[12].forEach(function (it) {
      figures[it[0]] = { median: it[1], low: it.length > 2 ? it[2] : it[1], high: it.length > 2 ? it[3] : it[1], runs: it[4] || 1, hosts: it[5] || 1 };
    });
    return {
      slug: row[0], name: row[1], kind: row[2], gb: row[3], origin: row[4], interface: row[5], classes: row[6], runs: row[7], fakes: row[8],
      fake: row[9] === 1, latest: row[10], verdict: row[11], figures: figures, fold: row[1].toLowerCase()
    };
  };
  var asked = null;
  var load = function (source) {
    asked = asked || fetch(source).then(function (answer) {
      if (!answer.ok) throw new Error(answer.status);
      return answer.json();
    }).then(function (all) { return all.lines.map(line); });
    return asked;
  };

  var badges = function (it) {
    return (it.fake ? ["fake"] : []).concat(it.origin === "measured" ? [] : [it.origin]).flatMap(function (word) {
      return [" ", make("span", { "class": "badge " + word }, [word])];
    });
  };
  var cell = function (it, at, sided) {
    var figure = FIGURES[at], found = it.figures[at];
    var place_ = sided ? "" : "num c" + at + " ";
    if (!found) return make("td", { "class": place_.trim() }, [make("span", { "class": "none" }, ["\u2013"])]);
    var range = found.low < found.high ? bare(figure, found.low) + "\u2013" + bare(figure, found.high) + ", " : "";
    var runs = count(found.runs, "run") + (found.runs > 1 ? ", " + count(found.hosts, "host") : "");
    return make("td", { "class": place_ + "l" + level(figure, found.median) }, [
      make("b", {}, [bare(figure, found.median) + (sided ? UNITS[figure.unit] : "")]), make("small", {}, [place(figure, found.median)]), make("small", {}, [range + runs])
    ]);
  };

  // The table.
  var table = document.getElementById("lines");
  var form = document.getElementById("filter");
  if (table && form) {
    var chosen = kept("flashmark-chosen") || [];
    var button = document.getElementById("compare-button");
    var choose = function () {
      button.textContent = chosen.length ? "Compare " + chosen.length + " of at most " + MOST : "Compare the ticked media";
      button.disabled = chosen.length < 2;
      table.querySelectorAll("input[name=m]").forEach(function (box) {
        box.checked = chosen.indexOf(box.value) >= 0;
        box.disabled = !box.checked && chosen.length >= MOST;
      });
      kept("flashmark-chosen", chosen);
    };
    table.addEventListener("change", function (event) {
      if (event.target.name !== "m") return;
      chosen = chosen.filter(function (slug) { return slug !== event.target.value; });
      if (event.target.checked) chosen.push(event.target.value);
      choose();
    });
    // What is ticked on other pages is compared too.
    document.getElementById("compare").addEventListener("submit", function (event) {
      event.preventDefault();
      location.href = this.getAttribute("action") + "?" + chosen.map(function (slug) { return "m=" + encodeURIComponent(slug); }).join("&");
    });
    choose();

    var hidden = kept("flashmark-hidden") || [];
    document.querySelectorAll("[data-column]").forEach(function (box) {
      box.checked = hidden.indexOf(box.dataset.column) < 0;
      box.addEventListener("change", function () {
        hidden = hidden.filter(function (name) { return name !== box.dataset.column; });
        if (!box.checked) hidden.push(box.dataset.column);
        kept("flashmark-hidden", hidden);
      });
    });

    // In a tree of files the script sorts and filters; a server does it itself.
    var source = table.dataset.source;
    if (source) {
      var heads = table.querySelectorAll("thead th[data-key]");
      var state = new URLSearchParams(location.search.length > 1 ? location.search : table.dataset.query);
      var sorts = {
        name: { value: function () { return 0; }, falls: false },
        capacity: { value: function (it) { return it.gb; }, falls: true },
        runs: { value: function (it) { return it.runs; }, falls: true },
        latest: { value: function (it) { return it.latest; }, falls: true }
      };
      FIGURES.forEach(function (figure, at) {
        sorts[figure.name] = { value: function (it) { return it.figures[at] ? it.figures[at].median : null; }, falls: !figure.small };
      });
      var fits = function (it) {
        var kinds = state.getAll("kind"), origins = state.getAll("origin"), fakes = state.get("fakes");
        var words = (state.get("q") || "").toLowerCase().split(/\s+/);
        var number = function (name) { return state.get(name) ? Number(state.get(name)) : null; };
        var far = (state.get("interface") || "").toLowerCase();
        var wanted = state.get("class");
        return words.every(function (word) { return it.fold.indexOf(word) >= 0; })
          && (!kinds.length || kinds.indexOf(it.kind) >= 0)
          && (origins.length ? origins.indexOf(it.origin) >= 0 : it.origin !== "simulated")
          && (fakes !== "none" || !it.fake) && (fakes !== "only" || it.fake)
          && (number("from-gb") === null || it.gb >= number("from-gb")) && (number("to-gb") === null || it.gb <= number("to-gb"))
          && (!far || it.interface.toLowerCase().indexOf(far) >= 0)
          && (!wanted || it.classes.split(" ").indexOf(wanted) >= 0)
          && FIGURES.every(function (figure, at) {
            var least = number(figure.name);
            if (!(least > 0)) return true;
            if (!it.figures[at]) return false;
            var value = it.figures[at].median / (figure.unit === "iops" ? 1 : 1e6);
            return figure.small ? value <= least : value >= least;
          });
      };
      var order = function (lines) {
        var name = sorts[state.get("sort")] ? state.get("sort") : "random-write-4k";
        var sort = sorts[name], turn = state.get("reversed") === "1" ? -1 : 1;
        lines.sort(function (a, b) {
          var x = sort.value(a), y = sort.value(b);
          if (x === null || y === null) return x === y ? (a.fold < b.fold ? -1 : 1) : x === null ? 1 : -1;
          var by = x < y ? -1 : x > y ? 1 : 0;
          if (name === "name") return turn * (a.fold < b.fold ? -1 : a.fold > b.fold ? 1 : 0);
          return (sort.falls ? -by : by) * turn || (a.fold < b.fold ? -1 : 1);
        });
        heads.forEach(function (head) {
          if (head.dataset.key !== name) head.removeAttribute("aria-sort");
          else head.setAttribute("aria-sort", (sort.falls === (turn > 0)) ? "descending" : "ascending");
        });
      };
      var row = function (it) {
        var box = make("input", { type: "checkbox", name: "m", value: it.slug, "aria-label": "Compare " + it.name });
        var facts = [KINDS[it.kind] || it.kind, it.classes].filter(Boolean).join(" \u00b7 ");
        var name = [make("a", { href: "medium/" + it.slug + ".html" }, [it.name])].concat(badges(it), [make("small", {}, [facts])]);
        return make("tr", {}, [make("td", { "class": "pick" }, [box]), make("th", { scope: "row", "class": "name" }, name)].concat(
          FIGURES.map(function (_, at) { return cell(it, at, false); }),
          [make("td", { "class": "num c10" }, [it.gb ? String(it.gb) : "\u2013"]), make("td", { "class": "num c11" }, [String(it.runs)]), make("td", { "class": "c12" }, [it.latest]),
            make("td", { "class": "c13" }, [it.interface]), make("td", { "class": "c14" }, [it.verdict])]
        ));
      };
      var found = [], PAGE = 50;
      var pages = document.querySelector(".pages") || make("nav", { "class": "pages", "aria-label": "Pages" });
      var turnTo = function (page) {
        state.set("page", page);
        draw(true);
        table.closest(".scroll").scrollIntoView({ block: "start" });
        table.closest(".scroll").focus({ preventScroll: true });
      };
      var draw = function (keep) {
        var last = Math.max(1, Math.ceil(found.length / PAGE));
        var page = Math.min(last, Math.max(1, Number(state.get("page")) || 1));
        var body = document.createDocumentFragment();
        found.slice((page - 1) * PAGE, page * PAGE).forEach(function (it) { body.append(row(it)); });
        table.tBodies[0].replaceChildren(body);
        var said = found.length === 1 ? "1 medium" : found.length ? found.length + " media" : "No medium fits";
        if (last > 1) said += ", page " + page + " of " + last;
        document.getElementById("summary").textContent = said;
        var nothing = document.querySelector(".nothing");
        if (nothing) nothing.hidden = found.length > 0;
        var near = [page - 1, page + 1].filter(function (at) { return at >= 1 && at <= last; });
        pages.replaceChildren.apply(pages, near.map(function (at) {
          var link = make("a", { href: "#lines" }, [at < page ? "Previous" : "Next"]);
          link.addEventListener("click", function (event) { event.preventDefault(); turnTo(at); });
          return link;
        }));
        if (!pages.parentNode) document.getElementById("compare").after(pages);
        choose();
        if (keep) {
          var text = state.toString();
          try { history.replaceState(null, "", text ? "?" + text : location.pathname); } catch (error) { /* a page from a file may not */ }
        }
      };
      var fold = function () {
        var set = {};
        form.querySelectorAll("details [name]").forEach(function (field) { if (field.name !== "sort" && state.get(field.name)) set[field.name] = true; });
        var count = Object.keys(set).length;
        document.getElementById("more").textContent = count ? ": " + count + " set" : "";
      };
      var show = function () {
        fold();
        return load(source).then(function (lines) {
          found = lines.filter(fits);
          order(found);
          draw(true);
        });
      };
      var fill = function () {
        Array.prototype.forEach.call(form.elements, function (field) {
          if (!field.name) return;
          if (field.type === "checkbox") field.checked = state.getAll(field.name).indexOf(field.value) >= 0;
          else if (state.get(field.name) !== null) field.value = state.get(field.name);
        });
      };
      var far = function () {
        document.getElementById("summary").textContent = "The data cannot be read from here: a page opened from a file may not. Any file server will do. Sorting works without.";
      };
      form.addEventListener("submit", function (event) {
        event.preventDefault();
        var sort = state.get("sort"), turned = state.get("reversed");
        state = new URLSearchParams();
        new FormData(form).forEach(function (value, name) { if (value && name !== "sort") state.append(name, value); });
        if (sort) state.set("sort", sort);
        if (turned) state.set("reversed", turned);
        show().catch(far);
      });
      heads.forEach(function (head) {
        head.querySelector("a").addEventListener("click", function (event) {
          var key = head.dataset.key;
          var here = head.hasAttribute("aria-sort");
          var link = this.href;
          event.preventDefault();
          if (here && state.get("reversed") !== "1") state.set("reversed", "1"); else state.delete("reversed");
          state.set("sort", key);
          state.delete("page");
          show().catch(function () { if (!here) location.href = link; });
        });
      });
      document.querySelectorAll("[data-download]").forEach(function (link) {
        link.addEventListener("click", function (event) {
          // As long as nothing is filtered the whole file is right.
          if (!found.length) return;
          event.preventDefault();
          var csv = link.dataset.download === "CSV";
          var text = csv ? table_csv(found) : JSON.stringify(found.map(plain), null, 1);
          var away = make("a", { href: URL.createObjectURL(new Blob([text], { type: csv ? "text/csv" : "application/json" })), download: csv ? "media.csv" : "media.json" });
          away.click();
          setTimeout(function () { URL.revokeObjectURL(away.href); }, 10000);
        });
      });
      var plain = function (it) {
        var out = { medium: it.slug, name: it.name, kind: it.kind, capacity_gb: it.gb, origin: it.origin, interface: it.interface, classes: it.classes, runs: it.runs, fakes: it.fakes, is_fake: it.fake, latest: it.latest, figures: {} };
        FIGURES.forEach(function (figure, at) { if (it.figures[at]) out.figures[figure.name] = it.figures[at]; });
        return out;
      };
      var table_csv = function (lines) {
        var quoted = function (value) {
          var text = String(value);
          if (/^[=+\-@]/.test(text)) text = "'" + text;
          return /[",'\n]/.test(text) ? "\"" + text.replace(/"/g, "\"\"") + "\"" : text;
        };
        var head = ["medium", "name", "kind", "capacity_gb", "origin", "interface", "classes", "runs", "fakes", "is_fake", "latest"];
        var figures = FIGURES.flatMap(function (figure) {
          var name = figure.name.replace(/-/g, "_");
          return [name + "_" + figure.unit, name + "_low_" + figure.unit, name + "_high_" + figure.unit, name + "_runs", name + "_hosts"];
        });
        return [head.concat(figures).join(",")].concat(lines.map(function (it) {
          var out = plain(it);
          var cells = FIGURES.flatMap(function (_, at) {
            var f = it.figures[at];
            return f ? [f.median, f.low, f.high, f.runs, f.hosts] : ["", "", "", "", ""];
          });
          return head.map(function (name) { return quoted(out[name]); }).concat(cells).join(",");
        })).join("\r\n") + "\r\n";
      };
      if (location.search.length > 1) { fill(); show().catch(far); }
    }
  }

  // Side by side, in a tree of files.
  var side = document.getElementById("chosen");
  if (side) {
    var slugs = new URLSearchParams(location.search).getAll("m").slice(0, MOST);
    if (slugs.length) load(side.dataset.source).then(function (lines) {
      var media = slugs.map(function (slug) { return lines.find(function (it) { return it.slug === slug; }); }).filter(Boolean);
      if (!media.length) { side.textContent = "None of these media is in the collection."; return; }
      var head = make("tr", {}, [make("th", { scope: "col", "class": "name" }, ["Figure"])].concat(media.map(function (it) {
        return make("th", { scope: "col" }, [make("a", { href: "medium/" + it.slug + ".html" }, [it.name])].concat(badges(it), [
          make("small", {}, [(KINDS[it.kind] || it.kind) + (it.gb ? " \u00b7 " + it.gb + " GB" : "") + " \u00b7 " + count(it.runs, "run")])
        ]));
      })));
      var rows = FIGURES.map(function (figure, at) {
        var known = media.filter(function (it) { return it.figures[at]; });
        if (!known.length) return null;
        var values = known.map(function (it) { return it.figures[at].median; });
        var best = Math[figure.small ? "min" : "max"].apply(null, values);
        return make("tr", {}, [make("th", { scope: "row", "class": "name" }, [figure.head])].concat(media.map(function (it) {
          var td = cell(it, at, true);
          if (values.filter(function (value) { return value === best; }).length === 1 && known.length > 1 && it.figures[at] && it.figures[at].median === best) {
            td.classList.add("best");
            td.firstChild.after(" ", make("span", { "class": "badge" }, ["best"]));
          }
          return td;
        })));
      }).filter(Boolean);
      var verdicts = make("tr", {}, [make("th", { scope: "row", "class": "name" }, ["Verdict"])].concat(media.map(function (it) {
        return make("td", { "class": "place" }, [it.verdict || "\u2013"]);
      })));
      side.replaceChildren(make("div", { "class": "scroll", tabindex: "0", role: "region", "aria-label": "Media side by side" }, [
        make("table", { "class": "lines side" }, [make("caption", { "class": "unseen" }, ["Figures of the media, a column each"]), make("thead", {}, [head]), make("tbody", {}, rows.concat([verdicts]))])
      ]), make("p", { "class": "how" }, ["Medians over runs. \u201cBest\u201d is the best median, not a proof."]));
      document.getElementById("how-to").hidden = true;
    }).catch(function () {
      side.textContent = "The data cannot be read from here: a page opened from a file may not. Any file server will do.";
    });
  }
})();
