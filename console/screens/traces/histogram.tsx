import { useState, type PointerEvent } from 'react'
import { brush, describeHistogram, drawBars, timeAt, type Histogram } from '../../logic/histogram.ts'
import { formatTime } from '../../logic/time.ts'
import classes from './traces.module.css'

interface TimeHistogramProps {
  histogram: Histogram
  /** Whether the address names a range. */
  isRange: boolean
  onRange: (range: { from: string | undefined; to: string | undefined }) => void
}

const [width, height] = [1_000, 56]

/** How many calls began when. A range that a person draws over it becomes the filter. */
export function TimeHistogram({ histogram, isRange, onRange }: TimeHistogramProps) {
  const [chosen, setChosen] = useState<{ a: number; b: number }>()
  const fractionOf = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width))
  }
  const end = () => {
    if (!chosen) return
    setChosen(undefined)
    onRange(brush(histogram, chosen.a, chosen.b))
  }
  const when = (fraction: number) => formatTime(timeAt(histogram, fraction))
  return (
    <div className={classes.histogram}>
      <svg
        role="img"
        aria-label={describeHistogram(histogram, when)}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          const fraction = fractionOf(event)
          setChosen({ a: fraction, b: fraction })
        }}
        onPointerMove={(event) => chosen && setChosen({ a: chosen.a, b: fractionOf(event) })}
        onPointerUp={end}
        onPointerCancel={() => setChosen(undefined)}
      >
        {drawBars(histogram, width, height).map((bar, index) => (
          <g key={index}>
            <rect data-kind="calls" x={bar.x} y={height - bar.calls} width={bar.width} height={bar.calls} />
            <rect data-kind="errors" x={bar.x} y={height - bar.errors} width={bar.width} height={bar.errors} />
          </g>
        ))}
        {chosen && (
          <rect
            data-kind="chosen"
            x={Math.min(chosen.a, chosen.b) * width}
            y={0}
            width={Math.max(2, Math.abs(chosen.b - chosen.a) * width)}
            height={height}
          />
        )}
      </svg>
      <div className={classes.axis}>
        <span>{chosen ? when(Math.min(chosen.a, chosen.b)) : when(0)}</span>
        {isRange && (
          <button type="button" onClick={() => onRange({ from: undefined, to: undefined })}>
            Show all times
          </button>
        )}
        <span>{chosen ? when(Math.max(chosen.a, chosen.b)) : when(1)}</span>
      </div>
    </div>
  )
}
