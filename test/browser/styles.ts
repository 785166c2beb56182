import type { Page } from 'playwright-core'

/** What is drawn in a page. */
export interface Styles {
  /** The sizes of its texts. */
  sizes: string[]
  /** The names of its accent colours, without the colours of data in charts. */
  hues: string[]
  /** The texts of cells of tables whose digits have different widths. */
  untabular: string[]
}

// It runs in the page. A colour with little chroma is a grey.
const script = `(() => {
  const sizes = new Set(), hues = new Set(), untabular = []
  const minChroma = 56
  const nameHue = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number)
    const [least, greatest] = [Math.min(red, green, blue), Math.max(red, green, blue)]
    if (alpha === 0 || greatest - least < minChroma) return
    const chroma = greatest - least
    const hue = 60 * (greatest === red ? ((green - blue) / chroma + 6) % 6 : greatest === green ? (blue - red) / chroma + 2 : (red - green) / chroma + 4)
    return hue > 200 && hue < 250 ? 'blue' : hue > 10 && hue < 45 ? 'orange' : Math.round(hue) + ' degrees, ' + colour
  }
  for (const element of document.querySelectorAll('body, body *')) {
    const style = getComputedStyle(element)
    if (!element.checkVisibility() || element.closest('figure svg, [data-series], canvas')) continue
    const ownText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (ownText) sizes.add(style.fontSize)
    const drawn = [ownText && style.color, style.backgroundColor, style.borderTopWidth !== '0px' && style.borderTopColor]
    for (const colour of drawn) { const hue = colour && nameHue(colour); if (hue) hues.add(hue) }
    if (ownText && element.closest('[role=cell], td, dd') && /\\d/.test(element.textContent) && !style.fontVariantNumeric.includes('tabular-nums'))
      untabular.push(element.textContent.slice(0, 40))
  }
  return { sizes: [...sizes], hues: [...hues], untabular }
})()`

export function readStyles(page: Page): Promise<Styles> {
  return page.evaluate<Styles>(script)
}
