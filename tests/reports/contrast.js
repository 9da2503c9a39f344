// Gives the texts of the page whose contrast with their ground is under 4.5 (3 for large text), each colour pair once.
(() => {
  const parse = (text) => {
    const found = text.match(/[\d.]+/g).map(Number);
    return { r: found[0], g: found[1], b: found[2], a: found.length > 3 ? found[3] : 1 };
  };
  const over = (top, under) => ({
    r: top.r * top.a + under.r * (1 - top.a),
    g: top.g * top.a + under.g * (1 - top.a),
    b: top.b * top.a + under.b * (1 - top.a),
    a: 1,
  });
  const light = ({ r, g, b }) => {
    const part = [r, g, b].map((value) => value / 255).map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const ground = (element) => {
    const stack = [];
    for (let at = element; at; at = at.parentElement) stack.push(parse(getComputedStyle(at).backgroundColor));
    return stack.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
  };
  const bad = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.getClientRects().length || element.closest("script,style,title,desc")) continue;
    const style = getComputedStyle(element);
    const svg = element instanceof SVGElement;
    const under = ground(element);
    const top = over(parse(svg ? style.fill : style.color), under);
    const [high, low] = [light(top), light(under)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.7 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) bad.set(`${style.color} ${svg ? style.fill : ""} on ${JSON.stringify(under)}`, `${ratio.toFixed(2)}: ${walker.currentNode.textContent.trim().slice(0, 40)}`);
  }
  return [...bad].map((pair) => pair.join(" "));
})();
