import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react'
import { formatMetric } from '../logic/numbers.ts'
import type { Axis, Marker } from '../logic/curves.ts'
import { describeSeries, type Band, type Point } from '../logic/series.ts'
import { formatTime } from '../logic/time.ts'
import classes from './chart.module.css'

export interface Series {
  name: string
  points: Point[]
  /** Values around which the series varies, drawn as a band. */
  band?: Band
  /** How many values a point stands for at most. */
  width?: number
}

export interface ChartProps {
  title: string
  series: readonly Series[]
  axis?: Axis
  markers?: readonly Marker[]
  onStep?: (step: number) => void
  onZoom?: (range: { from: number; to: number } | undefined) => void
  range?: { from: number; to: number } | undefined
}

// uPlot comes with the first chart.
const Plot = lazy(() => import('./plot.tsx'))

/** Formats a position of an axis. */
export function formatPosition(step: number, axis: Axis): string {
  if (axis === 'time') return formatTime(new Date(step).toISOString())
  return `${axis === 'index' ? 'gradient step' : 'step'} ${step}`
}

/** A chart of series along an axis, with its numbers beside it. It is drawn when it comes near the screen. */
export function Chart(props: ChartProps) {
  const { title, series, axis = 'step' } = props
  const [asTable, setAsTable] = useState(false)
  const sentence = series
    .map(({ name, points, band, width = 1 }) =>
      describeSeries({ name, points, extremes: width > 1 ? band : undefined }, formatMetric, (at) =>
        formatPosition(at, axis),
      ),
    )
    .join(' ')
  return (
    <figure className={classes.chart}>
      <figcaption>
        <h2>{title}</h2>
        <Legend series={series} />
        <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Chart' : 'Table'}
        </button>
      </figcaption>
      {asTable ? (
        <SeriesTable series={series} axis={axis} />
      ) : (
        <WhenNear>
          <div role="img" aria-label={sentence} className={classes.plot}>
            <Suspense fallback={null}>
              <Plot {...props} />
            </Suspense>
          </div>
        </WhenNear>
      )}
    </figure>
  )
}

/** The names of the series with their newest values, in their colours. */
function Legend({ series }: { series: readonly Series[] }) {
  return (
    <ul className={classes.legend}>
      {series.map(({ name, points, width = 1 }, index) => (
        <li key={name} data-series={index % 8}>
          {series.length > 1 && <span>{name}</span>} <b>{formatMetric(points.at(-1)?.value)}</b>{' '}
          {width > 1 && (
            <small title={`Each point is the mean of ${width} values; the band has the least and the greatest`}>
              1:{width}
            </small>
          )}
        </li>
      ))}
    </ul>
  )
}

const maxRows = 500

function SeriesTable({ series, axis }: { series: readonly Series[]; axis: Axis }) {
  const values = series.map(({ points }) => new Map(points.map(({ step, value }) => [step, value])))
  const steps = [...new Set(series.flatMap(({ points }) => points.map(({ step }) => step)))].toSorted((a, b) => b - a)
  return (
    <div className={classes.table} tabIndex={0} role="region" aria-label="Values">
      <table>
        <thead>
          <tr>
            <th scope="col">{axis === 'index' ? 'gradient step' : axis}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.slice(0, maxRows).map((step) => (
            <tr key={step}>
              <td>{axis === 'time' ? formatPosition(step, axis) : step}</td>
              {series.map(({ name }, index) => (
                <td key={name}>{formatMetric(values[index]!.get(step))}</td>
              ))}
            </tr>
          ))}
        </tbody>
        {steps.length > maxRows && (
          <caption>
            The last {maxRows} of {steps.length}
          </caption>
        )}
      </table>
    </div>
  )
}

/** Shows its content once it has been near the screen. A hundred charts below it cost nothing. */
function WhenNear({ children }: { children: ReactNode }) {
  const container = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true)
      },
      { rootMargin: '300px' },
    )
    observer.observe(container.current!)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={container} className={classes.plot}>
      {isNear && children}
    </div>
  )
}
