// What looks.py asks a page, in two functions: `gather` reads texts and marks off the page as the
// browser laid them out, `pairs` counts the colours of two pictures at the place of each of them.
// Both answer in JSON, which Playwright hands on much faster than objects.
// Nothing here judges: what is too small or too pale is said in looks.py.
({
  gather(root) {
    const rect = (box) => [box.left, box.top, box.right, box.bottom];
    const plots = [...root.querySelectorAll(".js-plotly-plot")];
    const plotOf = (el) => plots.indexOf(el.closest(".js-plotly-plot"));
    const above = function* (el) {
      for (let e = el; e && e !== root.parentElement; e = e.parentElement) yield e;
    };
    const shows = (el) => el.checkVisibility({ visibilityProperty: true })
      && !el.closest(".modebar, .hoverlayer, defs, style, script, select");
    const opacity = (el) => [...above(el)].reduce((all, e) => all * getComputedStyle(e).opacity, 1);
    const size = (el) => parseFloat(getComputedStyle(el).fontSize);
    const run = (el, words, colour) => {
      const clear = el.closest("svg") ? getComputedStyle(el).fillOpacity : 1;
      return { words, size: size(el), colour, opacity: opacity(el) * clear };
    };

    // The part of the page in which an element can be seen, or scrolled into sight downwards.
    const room = (el) => {
      let [left, top, right, bottom] = [-Infinity, -Infinity, Infinity, Infinity];
      for (const e of above(el)) {
        const style = getComputedStyle(e), box = e.getBoundingClientRect();
        const edge = e.matches(".main-svg") || style.overflowX !== "visible";
        const fixed = e.matches(".main-svg") || /hidden|clip/.test(style.overflowY);
        if (edge) [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
        if (fixed) [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
        const cut = /#([^"')]+)/.exec(e.getAttribute("clip-path") || "");
        const frame = cut && document.getElementById(cut[1])?.querySelector("rect");
        if (!frame) continue;
        const at = e.getScreenCTM(), value = (name) => parseFloat(frame.getAttribute(name) || 0);
        const [x, y] = [at.e + value("x"), at.f + value("y")];
        [left, right] = [Math.max(left, x), Math.min(right, x + value("width"))];
        [top, bottom] = [Math.max(top, y), Math.min(bottom, y + value("height"))];
      }
      return [left, top, right, bottom].map((px) => Number.isFinite(px) ? px : px < 0 ? -1e6 : 1e6);
    };
    // The part of the page in which an element is painted now.
    const sight = (el) => {
      let [top, bottom] = [0, innerHeight];
      for (let e = el; e && e !== document.body; e = e.parentElement) {
        if (getComputedStyle(e).overflowY === "visible") continue;
        const box = e.getBoundingClientRect();
        [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      }
      return [0, top, innerWidth, bottom];
    };

    const texts = new Map();
    const add = (el, box, words, colour, name = el) => {
      if (!words.trim() || !shows(el)) return;
      const known = texts.get(name) ?? {
        plot: plotOf(el), place: rect(box), room: room(el), sight: sight(el), runs: [],
        off: !!el.closest(":disabled"),
      };
      known.runs.push(run(el, words.trim(), colour));
      texts.set(name, known);
    };
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, el = node.parentElement, whole = el.closest("text");
      const range = document.createRange();
      range.selectNodeContents(node);
      const { left, top, right, bottom } = (whole ?? range).getBoundingClientRect();
      const style = getComputedStyle(el), hangs = style.whiteSpace === "pre-wrap"; // a last blank
      const box = { left, top, right: right - (hangs ? size(el) : 0), bottom };
      add(el, box, node.data, whole ? style.fill : style.color, whole ?? node);
    }
    for (const field of root.querySelectorAll("input:not([type=checkbox]), textarea")) {
      const style = getComputedStyle(field, field.value ? null : "::placeholder");
      const box = field.getBoundingClientRect();
      const inner = new DOMRect(box.left + field.clientLeft, box.top + field.clientTop,
        field.clientWidth, field.clientHeight);
      add(field, inner, field.value || field.placeholder, style.color);
    }

    const marks = [];
    const mark = (kind, layer, el, place) => {
      const name = el.closest(".trace")?.__data__?.[0]?.trace?.name ?? "";
      if (shows(el)) marks.push({ kind, name, layer, place, sight: sight(el) });
    };
    const along = (el) => {
      const length = el.getTotalLength(), at = el.getScreenCTM(), points = [];
      for (let px = 0; px <= length; px += Math.max(1.7, length / 400)) {
        const point = el.getPointAtLength(px).matrixTransform(at);
        points.push([point.x, point.y]);
      }
      return points;
    };
    const area = (el) => rect(el.getBoundingClientRect());
    for (const plot of plots) {
      const each = (where, what) => plot.querySelectorAll(where).forEach(what);
      each(".barlayer .point > path", (el) => {
        const [x0, y0, x1, y1] = area(el), rim = parseFloat(getComputedStyle(el).strokeWidth) / 2;
        if (y1 - y0 >= 2) mark("bar", 0, el, [x0 - rim, y0 - rim, x1 + rim, y1 + rim]); // no hair
      });
      each(".scatterlayer .js-line", (el) => mark("line", 1, el, along(el)));
      each(".scatterlayer path.point", (el) => mark("marker", 1, el, area(el)));
      each(".shapelayer path", (el) => {
        mark("shape", el.closest(".layer-below") ? 0 : 2, el, along(el));
      });
      each(".annotation-arrow-g path", (el) => mark("leader", 2, el, along(el)));
    }
    root.querySelectorAll(".noUi-handle").forEach((el) => mark("handle", 2, el, area(el)));
    return JSON.stringify({ texts: [...texts.values()], marks });
  },

  // How often each pair of colours, one from each picture, is at the same point of a place.
  async pairs(asked) {
    const [pngs, left, top, places] = JSON.parse(asked);
    const pixels = async (png) => {
      const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const pen = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
      pen.drawImage(picture, 0, 0);
      return pen.getImageData(0, 0, picture.width, picture.height);
    };
    const [painted, ground] = await Promise.all(pngs.map(pixels));
    const colour = (data, at) => data[at] * 65536 + data[at + 1] * 256 + data[at + 2];
    const channels = (key) => [5, 4, 3, 2, 1, 0].map((n) => Math.floor(key / 256 ** n) % 256);
    // Of a large area every third pixel or so: an odd step falls on every part of a hatching.
    const inside = function* ([x0, y0, x1, y1]) {
      const step = 2 * Math.floor(Math.sqrt((x1 - x0) * (y1 - y0)) / 80) + 1;
      for (let y = Math.ceil(y0); y + 1 <= y1; y += step)
        for (let x = Math.ceil(x0); x + 1 <= x1; x += step) yield [x, y];
    };
    return JSON.stringify(places.map((place) => {
      const counts = new Map();
      for (const [x, y] of typeof place[0] === "number" ? inside(place) : place) {
        const [across, down] = [Math.floor(x - left), Math.floor(y - top)];
        if (across < 0 || down < 0 || across >= ground.width || down >= ground.height) continue;
        const at = 4 * (down * ground.width + across);
        const key = colour(painted.data, at) * 2 ** 24 + colour(ground.data, at);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return [...counts].map(([key, count]) => [channels(key), count]);
    }));
  },
})
