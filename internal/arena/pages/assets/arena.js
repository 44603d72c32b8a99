// The page's own script: countdowns, the chart of the price, and the play button of a replay. Everything else is htmx.
(() => {
  "use strict";

  // The server's clock is that of the countdowns.
  const page = document.querySelector("[data-now]");
  const ahead = page ? Date.parse(page.dataset.now) - Date.now() : 0;

  const text = (milliseconds) => {
    const seconds = Math.max(0, Math.round(milliseconds / 1000));
    const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return (h ? h + "h" : "") + (h || m ? m + "m" : "") + s + "s";
  };

  const tick = () => {
    const now = Date.now() + ahead;
    for (const e of document.querySelectorAll("[data-until]")) e.textContent = text(Date.parse(e.dataset.until) - now);
    for (const e of document.querySelectorAll("[data-since]")) e.textContent = text(now - Date.parse(e.dataset.since));
  };
  setInterval(tick, 500);
  setInterval(() => draw(), 2000);

  let chart, shown;
  const draw = () => {
    const place = document.querySelector(".chart");
    if (!place) return;
    const style = getComputedStyle(document.documentElement);
    const [ink, line, grid] = ["--ink", "--accent", "--line"].map((name) => style.getPropertyValue(name).trim());
    const data = JSON.parse(place.dataset.points);
    // The last price lasts until now.
    const end = place.dataset.end ? Number(place.dataset.end) : (Date.now() + ahead) / 1000;
    if (end > data[0].at(-1)) {
      data[0].push(end);
      data[1].push(data[1].at(-1));
    }
    if (chart && shown === place) {
      chart.setData(data);
      return;
    }
    if (chart) chart.destroy();
    shown = place;
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    chart = new uPlot({
      width: place.clientWidth, height: 220, legend: { show: false }, cursor: { show: false },
      scales: { y: { range: [0, 100] } },
      axes: [axis, { ...axis, size: 46, values: (_, all) => all.map((v) => (v / 100).toFixed(2)) }],
      series: [{}, { stroke: line, width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }],
    }, data, place);
  };

  // A new version of the part has another element.
  document.body.addEventListener("htmx:afterSwap", () => { draw(); tick(); });
  document.body.addEventListener("htmx:sseMessage", () => { draw(); tick(); });
  addEventListener("resize", () => { shown = undefined; draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { shown = undefined; draw(); });

  const slider = document.getElementById("slider"), play = document.getElementById("play");
  if (slider && play) {
    let timer;
    const stop = () => {
      clearInterval(timer);
      timer = undefined;
      play.textContent = "Play";
      play.setAttribute("aria-pressed", "false");
    };
    play.addEventListener("click", () => {
      if (timer) return stop();
      if (slider.value === slider.max) slider.value = 0;
      play.textContent = "Pause";
      play.setAttribute("aria-pressed", "true");
      timer = setInterval(() => {
        slider.stepUp();
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        if (slider.value === slider.max) stop();
      }, 300);
    });
  }
  draw();
  tick();
})();
