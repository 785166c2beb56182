import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react'
import { formatMetric } from '../logic/numbers.ts'
import { describeSeries, type Point } from '../logic/series.ts'
import classes from './chart.module.css'

export interface Series {
  name: string
  points: Point[]
  /** Values around which the series varies, drawn as a band. */
  band?: { low: Point[]; high: Point[] }
}

export interface Marker {
  step: number
  name: string
}

export interface ChartProps {
  title: string
  series: readonly Series[]
  markers?: readonly Marker[]
  onStep?: (step: number) => void
  onZoom?: (range: { from: number; to: number } | undefined) => void
  range?: { from: number; to: number } | undefined
}

// uPlot comes with the first chart.
const Plot = lazy(() => import('./plot.tsx'))

/** A chart of series by step, with its numbers beside it. It is drawn when it comes near the screen. */
export function Chart(props: ChartProps) {
  const { title, series } = props
  const [asTable, setAsTable] = useState(false)
  const sentence = series.map(({ name, points }) => describeSeries(name, points, formatMetric)).join(' ')
  return (
    <figure className={classes.chart}>
      <figcaption>
        <h3>{title}</h3>
        <Legend series={series} />
        <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Chart' : 'Table'}
        </button>
      </figcaption>
      {asTable ? (
        <SeriesTable series={series} />
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
      {series.map(({ name, points }, index) => (
        <li key={name} data-series={index % 8}>
          {series.length > 1 && <span>{name}</span>} <b>{formatMetric(points.at(-1)?.value)}</b>
        </li>
      ))}
    </ul>
  )
}

function SeriesTable({ series }: { series: readonly Series[] }) {
  const steps = [...new Set(series.flatMap(({ points }) => points.map(({ step }) => step)))].toSorted((a, b) => b - a)
  return (
    <div className={classes.table} tabIndex={0} role="region" aria-label="Values">
      <table>
        <thead>
          <tr>
            <th scope="col">step</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.slice(0, 500).map((step) => (
            <tr key={step}>
              <td>{step}</td>
              {series.map(({ name, points }) => (
                <td key={name}>{formatMetric(points.find((point) => point.step === step)?.value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Shows its content once it has been near the screen. A hundred charts below it cost nothing. */
function WhenNear({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true)
      },
      { rootMargin: '300px' },
    )
    observer.observe(place.current!)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={place} className={classes.plot}>
      {isNear && children}
    </div>
  )
}
