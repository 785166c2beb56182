import type { Page } from 'playwright-core'

/** What is drawn in a page. */
export interface Styles {
  /** The sizes of its texts. */
  sizes: string[]
  /** The names of its accent colours, without the colours of data in charts. */
  hues: string[]
  /** The texts of cells of tables whose digits have different widths. */
  untabular: string[]
  /** The paddings, margins and gaps that are not of the scale of spaces, with their elements. */
  spaces: string[]
}

// It runs in the page. A colour with little chroma is a grey.
const script = `(() => {
  const sizes = new Set(), hues = new Set(), untabular = [], spaces = new Set()
  const root = getComputedStyle(document.documentElement)
  const scale = [0, ...Array.from({ length: 7 }, (_, step) => parseFloat(root.getPropertyValue('--space-' + step)))]
  const sides = ['top', 'right', 'bottom', 'left'].flatMap((side) => ['padding-' + side, 'margin-' + side])
  const addSpaces = (element) => {
    const styles = element.computedStyleMap()
    for (const name of [...sides, 'row-gap', 'column-gap']) {
      const value = styles.get(name)
      // Others are words, such as auto. Those of an element itself place data: a time, a depth.
      const isPlaced = element.style.getPropertyValue(name) !== ''
      if (value.unit !== undefined && !isPlaced && !scale.includes(Math.abs(value.value)))
        spaces.add(element.localName + '.' + element.className + ' has ' + name + ' ' + value)
    }
  }
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
    if (element instanceof HTMLElement) addSpaces(element)
    const ownText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (ownText) sizes.add(style.fontSize)
    const drawn = [ownText && style.color, style.backgroundColor, style.borderTopWidth !== '0px' && style.borderTopColor]
    for (const colour of drawn) { const hue = colour && nameHue(colour); if (hue) hues.add(hue) }
    if (ownText && element.closest('[role=cell], td, dd') && /\\d/.test(element.textContent) && !style.fontVariantNumeric.includes('tabular-nums'))
      untabular.push(element.textContent.slice(0, 40))
  }
  return { sizes: [...sizes], hues: [...hues], untabular, spaces: [...spaces] }
})()`

// Texts beside each other that are drawn over each other: of elements with the same parent that are placed by the page.
const overlapScript = `(() => {
  const faults = []
  // What floats above a page is meant to.
  const floating = [...document.querySelectorAll('body *')].filter((element) => getComputedStyle(element).position === 'fixed')
  for (const element of floating) element.style.display = 'none'
  const boxOf = (element) => { const range = document.createRange(); range.selectNodeContents(element); return range.getBoundingClientRect() }
  for (const parent of document.querySelectorAll('body *')) {
    if (parent.closest('figure, svg')) continue
    const shown = [...parent.children].filter((child) => child.checkVisibility() && child.innerText?.trim() && !/absolute|sticky/.test(getComputedStyle(child).position))
    const boxes = shown.map(boxOf)
    for (let a = 0; a < shown.length; a++) for (let b = a + 1; b < shown.length; b++) {
      const width = Math.min(boxes[a].right, boxes[b].right) - Math.max(boxes[a].left, boxes[b].left)
      const height = Math.min(boxes[a].bottom, boxes[b].bottom) - Math.max(boxes[a].top, boxes[b].top)
      const isClipped = [shown[a], shown[b]].some((element) => /hidden|auto|scroll|clip/.test(getComputedStyle(element).overflowX))
      if (width > 3 && height > 3 && !isClipped && getComputedStyle(shown[a]).display !== 'inline')
        faults.push('"' + shown[a].innerText.slice(0, 40) + '" is over "' + shown[b].innerText.slice(0, 40) + '"')
    }
  }
  for (const element of floating) element.style.display = ''
  return faults.slice(0, 5)
})()`

/** The texts of a page that are drawn over each other. */
export function findOverlaps(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(overlapScript)
}

export function readStyles(page: Page): Promise<Styles> {
  return page.evaluate<Styles>(script)
}
