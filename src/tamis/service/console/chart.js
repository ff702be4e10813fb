// Draws a bar for each second. The label repeats the numbers for screen readers.

const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 70;

export function draw(svg, values, name) {
  const most = Math.max(1, ...values);
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  const step = WIDTH / Math.max(1, values.length);
  const bars = values.map((value, at) => {
    const height = Math.max(value ? 1 : 0, (value / most) * HEIGHT);
    const bar = document.createElementNS(SPACE, "rect");
    const shape = { class: "bar", x: at * step, y: HEIGHT - height, width: Math.max(1, step - 1), height };
    for (const [attribute, amount] of Object.entries(shape)) bar.setAttribute(attribute, amount);
    return bar;
  });
  svg.replaceChildren(...bars);
  const last = values.at(-1) ?? 0;
  const words = `${last.toLocaleString("en")} in the last second, at most ${Math.max(0, ...values).toLocaleString("en")}`;
  svg.setAttribute("aria-label", `${name}: ${words}`);
  svg.nextElementSibling.textContent = words;
}
