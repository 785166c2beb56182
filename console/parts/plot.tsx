import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import UPlot, { type AlignedData, type Options } from 'uplot'
import { formatMetric, formatTicks } from '../logic/numbers.ts'
import { joinSeries } from '../logic/series.ts'
import { rangeOf, type Marker } from '../logic/curves.ts'
import { formatPosition, type ChartProps, type Series } from './chart.tsx'

const none: readonly Marker[] = []

/** Draws series with uPlot. New points are added to the chart that is there. */
export default function Plot({ series, axis = 'step', markers = none, onStep, onZoom, range }: ChartProps) {
  const container = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>(undefined)
  // A chart is made again when its series change, and not when their points do.
  const shape = JSON.stringify([
    series.map(({ name, band, width = 1 }) => [name, band !== undefined, width > 1]),
    range,
    axis,
  ])
  const calls = useRef({ onStep, onZoom, markers })
  calls.current = { onStep, onZoom, markers }

  useEffect(() => {
    const host = container.current!
    const make = () => {
      chart.current?.destroy()
      chart.current = new UPlot(makeOptions(host, { series, axis, range }, calls), readData(series), host)
    }
    make()
    const observer = new ResizeObserver(() =>
      chart.current?.setSize({ width: host.clientWidth, height: host.clientHeight }),
    )
    observer.observe(host)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', make)
    addEventListener('trainyard:theme', make)
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', make)
      removeEventListener('trainyard:theme', make)
      chart.current?.destroy()
      chart.current = undefined
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [shape])

  useEffect(() => chart.current?.setData(readData(series), range === undefined), [series, range])
  useEffect(() => chart.current?.redraw(false), [markers])
  return <div ref={container} style={{ height: '100%' }} />
}

/** The columns of the chart: those of the series first, then the bounds of their bands. */
function readData(series: readonly Series[]): AlignedData {
  const bands = series.flatMap(({ band }) => (band ? [band.high, band.low] : []))
  const { x, ys } = joinSeries([...series.map(({ points }) => points), ...bands])
  return [x, ...ys] as AlignedData
}

interface Calls {
  current: { onStep: ChartProps['onStep']; onZoom: ChartProps['onZoom']; markers: readonly Marker[] }
}

type Shape = Required<Pick<ChartProps, 'series' | 'axis'>> & { range: ChartProps['range'] }

function makeOptions(host: HTMLElement, { series, axis: x, range }: Shape, calls: Calls): Options {
  const colours = readColours(host)
  const axis = {
    stroke: colours.muted,
    grid: { stroke: colours.line, width: 1 },
    ticks: { show: false },
    font: colours.font,
  }
  const colourOf = (index: number) => colours.series[index % colours.series.length]!
  const lines = series.map(({ name }, index) => ({
    label: name,
    stroke: colourOf(index),
    width: 1.5,
    spanGaps: true,
    points: { show: series.every(({ points }) => points.length < 60), size: 4 },
  }))
  const banded = series.flatMap(({ band }, index) => (band ? [index] : []))
  const bounds = banded.flatMap((index) => {
    // The area of a single value far from all others is too thin to be seen. Its line is not.
    const edge = (series[index]!.width ?? 1) > 1 ? { stroke: `${colourOf(index)}80`, width: 1 } : { width: 0 }
    return [0, 1].map(() => ({ ...edge, points: { show: false } }))
  })
  return {
    width: host.clientWidth,
    height: host.clientHeight,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, drag: { setScale: false, x: true, y: false }, points: { size: 7 } },
    // Times are in milliseconds.
    ms: 1,
    scales: {
      x: { time: x === 'time', ...(range && { min: range.from, max: range.to }) },
      y: { range: (_, low, high) => rangeOf(low, high) },
    },
    axes: [
      {
        ...axis,
        size: 24,
        gap: 4,
        space: 48,
        ...(x !== 'time' && {
          values: (_: UPlot, steps: number[]) => steps.map((step) => (Number.isInteger(step) ? String(step) : '')),
        }),
      },
      { ...axis, size: 46, gap: 4, space: 28, values: (_, ticks) => formatTicks(ticks) },
    ],
    series: [{}, ...lines, ...bounds],
    bands: banded.map((index, container) => ({
      series: [lines.length + 1 + 2 * container, lines.length + 2 + 2 * container] as [number, number],
      fill: `${colourOf(index)}26`,
    })),
    hooks: {
      setSelect: [(plot) => readZoom(plot, calls)],
      ready: [(plot) => followPointer(plot, series, x, calls)],
      draw: [(plot) => drawMarkers(plot, calls.current.markers, colours)],
    },
  }
}

function readZoom(plot: UPlot, calls: Calls): void {
  const { left, width } = plot.select
  if (width < 4) return
  const [from, to] = [Math.floor(plot.posToVal(left, 'x')), Math.ceil(plot.posToVal(left + width, 'x'))]
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  if (to > from) calls.current.onZoom?.({ from, to })
}

/** Shows the values under the pointer. A click opens the step, a double click ends the zoom. */
function followPointer(plot: UPlot, series: readonly Series[], axis: Shape['axis'], calls: Calls): void {
  const tip = document.createElement('div')
  tip.className = 'plot-tip'
  plot.over.append(tip)
  let pressed = 0
  plot.over.addEventListener('mousedown', ({ clientX }) => (pressed = clientX))
  plot.over.addEventListener('click', ({ clientX }) => {
    const step = plot.data[0][plot.cursor.idx ?? -1]
    if (step !== undefined && Math.abs(clientX - pressed) < 4) calls.current.onStep?.(step)
  })
  plot.over.addEventListener('dblclick', () => calls.current.onZoom?.(undefined))
  plot.over.addEventListener('mousemove', () => {
    const index = plot.cursor.idx
    const step = index === null || index === undefined ? undefined : plot.data[0][index]
    tip.hidden = step === undefined
    if (step === undefined) return
    const values = series.map(({ name }, at) => `${name}  ${formatMetric(plot.data[at + 1]![index!])}`)
    const marks = calls.current.markers.filter((marker) => marker.step === step).map(({ name }) => name)
    tip.textContent = [formatPosition(step, axis), ...values, ...marks].join('\n')
    const x = plot.valToPos(step, 'x')
    tip.style.transform = `translate(${x > plot.over.clientWidth / 2 ? x - tip.offsetWidth - 10 : x + 10}px, 4px)`
  })
  plot.over.addEventListener('mouseleave', () => (tip.hidden = true))
  tip.hidden = true
}

/** Aliases and failures are lines with names, checkpoints are ticks at the axis. */
function drawMarkers(plot: UPlot, markers: readonly Marker[], colours: Colours): void {
  const { ctx, bbox } = plot
  const bottom = bbox.top + bbox.height
  ctx.save()
  ctx.font = colours.font.replace('11px', `${11 * devicePixelRatio}px`)
  ctx.textAlign = 'left'
  ctx.textBaseline = 'alphabetic'
  for (const { kind, step, name } of markers) {
    const x = plot.valToPos(step, 'x', true)
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.strokeStyle = { alias: colours.series[0]!, failure: colours.orange, checkpoint: colours.muted }[kind]
    ctx.fillStyle = ctx.strokeStyle
    ctx.setLineDash(kind === 'checkpoint' ? [] : [3 * devicePixelRatio, 3 * devicePixelRatio])
    ctx.beginPath()
    ctx.moveTo(x, kind === 'checkpoint' ? bottom - 4 * devicePixelRatio : bbox.top)
    ctx.lineTo(x, bottom)
    ctx.stroke()
    const text = kind === 'failure' ? '✕' : name
    if (kind !== 'checkpoint') ctx.fillText(text, x + 3 * devicePixelRatio, bbox.top + 10 * devicePixelRatio)
  }
  ctx.restore()
}

interface Colours {
  muted: string
  line: string
  orange: string
  font: string
  series: string[]
}

/** Reads the colours of the tokens in the theme that is shown, as #rrggbb. */
function readColours(host: HTMLElement): Colours {
  const probe = document.createElement('span')
  host.append(probe)
  const read = (name: string) => {
    probe.style.color = `var(${name})`
    const parts = getComputedStyle(probe).color.match(/\d+/g)!.slice(0, 3)
    return `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`
  }
  const colours = {
    muted: read('--muted'),
    line: read('--line'),
    orange: read('--orange'),
    font: `11px ${getComputedStyle(host).fontFamily}`,
    series: Array.from({ length: 8 }, (_, index) => read(`--series-${index}`)),
  }
  probe.remove()
  return colours
}
