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

  // What the pages know of figures and of kinds of media.
  var FIGURES = [/* FIGURES */].map(function (it) { return { name: it[0], head: it[1], unit: it[2], factor: it[3], more: it[4] }; });
  var KINDS = {/* KINDS */};
  var count = function (n, noun) { return n + " " + noun + (n === 1 ? "" : "s"); };

  // One line of the short form: what it is filtered by, what it is sorted by, what is shown.
  var line = function (row) {
    var figures = {}, tiers = {}, sorts = { name: row[1].toLowerCase(), capacity: row[3], runs: row[7], latest: row[9] };
    row[11].forEach(function (it) {
      sorts[FIGURES[it[0]].name] = it[1];
      tiers[FIGURES[it[0]].name] = it[6];
      figures[FIGURES[it[0]].name] = { value: it[2], place: it[3], runs: it[4], level: it[5] };
    });
    return {
      slug: row[0], name: row[1], kind: row[2], gb: row[3], origin: row[4], interface: row[5], classes: row[6], runs: row[7],
      fake: row[8] === 1, latest: row[9], verdict: row[10], searched: row[1].toLowerCase() + " " + row[12], figures: figures, sorts: sorts, tiers: tiers,
      reports: row[13], listed: row[14] === 1, damaged: row[15] === 1
    };
  };
  var asked = null;
  // A page opened from a file may not fetch, but may load a script: the same data as one.
  var from_file = function (source) {
    return new Promise(function (found, failed) {
      var script = make("script", { src: source.replace(/json$/, "js") });
      script.onload = function () { window.flashmark_table ? found(window.flashmark_table) : failed(new Error("no data")); };
      script.onerror = failed;
      document.head.append(script);
    });
  };
  var from_server = function (source) {
    return fetch(source).then(function (answer) {
      if (!answer.ok) throw new Error(answer.status);
      return answer.json();
    });
  };
  var load = function (source) {
    asked = asked || (location.protocol === "file:" ? from_file : from_server)(source).then(function (all) { return all.lines.map(line); });
    return asked;
  };

  var badges = function (it) {
    var states = [it.fake && ["fake", "fake"], it.damaged && ["fake", "damaged"], !it.listed && ["imported", "not ranked"], it.origin !== "measured" && [it.origin, it.origin]];
    return states.filter(Boolean).flatMap(function (state) {
      return [" ", make("span", { "class": "badge " + state[0] }, [state[1]])];
    });
  };
  var cell = function (it, figure, column) {
    var found = it.figures[figure.name];
    if (!found) return make("td", { "class": column }, [make("span", { "class": "none" }, ["\u2013"])]);
    // A head says the unit; beside other media nothing does.
    var unit = column || !figure.unit ? "" : " " + figure.unit;
    return make("td", { "class": column + " l" + found.level }, [
      make("b", {}, [found.value + unit]), make("small", {}, [found.place]), make("small", {}, [found.runs])
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

    // Files answer no queries: the script sorts and filters.
    var source = table.dataset.source;
    if (source) {
      var heads = Array.from(table.querySelectorAll("thead th[data-key]"));
      var state = new URLSearchParams(location.search.length > 1 ? location.search : table.dataset.query);
      var fits = function (it) {
        var kinds = state.getAll("kind"), origins = state.getAll("origin");
        var words = (state.get("q") || "").toLowerCase().split(/\s+/);
        var number = function (name) { return state.get(name) ? Number(state.get(name)) : null; };
        var far = (state.get("interface") || "").toLowerCase();
        var wanted = state.get("class");
        return words.every(function (word) { return it.searched.indexOf(word) >= 0; })
          && (!kinds.length || kinds.indexOf(it.kind) >= 0)
          && (origins.length ? origins.indexOf(it.origin) >= 0 : it.origin !== "simulated")
          && (number("from-gb") === null || it.gb >= number("from-gb")) && (number("to-gb") === null || it.gb <= number("to-gb"))
          && (!far || it.interface.toLowerCase().indexOf(far) >= 0)
          && (!wanted || it.classes.split(" ").indexOf(wanted) >= 0)
          && FIGURES.every(function (figure) {
            var limit = number(figure.name), value = it.sorts[figure.name] / figure.factor;
            return !(limit > 0) || (figure.more ? value >= limit : value <= limit);
          });
      };
      var order = function (lines) {
        var head = heads.find(function (it) { return it.dataset.key === state.get("sort"); }) || heads.find(function (it) { return it.dataset.key === FIGURES[0].name; });
        var key = head.dataset.key, falls = ("falls" in head.dataset) !== (state.get("reversed") === "1");
        lines.sort(function (a, b) {
          var x = a.sorts[key], y = b.sorts[key], by = 0;
          if (x === undefined || y === undefined) by = (x === undefined) - (y === undefined);
          else if (a.tiers[key] !== b.tiers[key]) by = a.tiers[key] - b.tiers[key];
          else if (x !== y) by = (x < y) === falls ? 1 : -1;
          return by || (a.sorts.name < b.sorts.name ? -1 : a.sorts.name > b.sorts.name ? 1 : a.slug < b.slug ? -1 : 1);
        });
        heads.forEach(function (it) { it.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      };
      var row = function (it) {
        var box = make("input", { type: "checkbox", name: "m", value: it.slug, "aria-label": "Compare " + it.name });
        var facts = [KINDS[it.kind] || it.kind, it.classes, it.reports].filter(Boolean).join(" \u00b7 ");
        var name = [make("a", { href: "medium/" + it.slug + ".html" }, [it.name])].concat(badges(it), [make("small", {}, [facts])]);
        return make("tr", {}, [make("td", { "class": "pick" }, [box]), make("th", { scope: "row", "class": "name" }, name)].concat(
          FIGURES.map(function (figure, at) { return cell(it, figure, "num c" + at); }),
          [make("td", { "class": "num capacity" }, [it.gb ? String(it.gb) : "\u2013"]), make("td", { "class": "num count" }, [String(it.runs)]), make("td", { "class": "latest" }, [it.latest]),
            make("td", { "class": "interface" }, [it.interface]), make("td", { "class": "verdict" }, [it.verdict])]
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
        document.getElementById("summary").textContent = "The data cannot be read from here. Sorting works without.";
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
          fetch(link.href).then(function (answer) { return answer.text(); }).then(function (all) {
            var text = csv ? of_csv(all) : of_json(all);
            var away = make("a", { href: URL.createObjectURL(new Blob([text], { type: csv ? "text/csv" : "application/json" })), download: csv ? "media.csv" : "media.json" });
            away.click();
            setTimeout(function () { URL.revokeObjectURL(away.href); }, 10000);
          });
        });
      });
      // The lines that were found, of the whole file: a line of it begins with the name that a medium has in addresses.
      var of_csv = function (all) {
        var lines = all.trim().split("\r\n"), named = {};
        lines.forEach(function (it) { named[it.split(",")[0]] = it; });
        return [lines[0]].concat(found.map(function (it) { return named[it.slug]; })).join("\r\n") + "\r\n";
      };
      var of_json = function (all) {
        var data = JSON.parse(all), named = {};
        data.lines.forEach(function (it) { named[it.slug] = it; });
        data.lines = found.map(function (it) { return named[it.slug]; });
        return JSON.stringify(data, null, 1);
      };
      if (location.search.length > 1) { fill(); show().catch(far); }
    }
  }

  // Side by side.
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
      var rows = FIGURES.map(function (figure) {
        var value = function (it) { return it.sorts[figure.name]; };
        var known = media.map(value).filter(function (it) { return it !== undefined; });
        if (!known.length) return null;
        var best = Math[figure.more ? "max" : "min"].apply(null, known);
        var is_alone = known.length > 1 && known.filter(function (it) { return it === best; }).length === 1;
        return make("tr", {}, [make("th", { scope: "row", "class": "name" }, [figure.head])].concat(media.map(function (it) {
          var td = cell(it, figure, "");
          if (is_alone && value(it) === best && it.listed && it.tiers[figure.name] % 2 === 0) {
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
      side.textContent = "The data cannot be read from here.";
    });
  }
})();
