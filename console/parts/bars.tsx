import classes from './bars.module.css'

interface BarsProps {
  title: string
  /** The names of the bars, from left to right. */
  labels: readonly string[]
  /** The parts of each bar, from the bottom. */
  series: readonly { name: string; values: readonly number[]; total: number }[]
  format: (value: number) => string
}

const [width, height] = [720, 180]
const gap = 0.25

/** Stacked bars. The table of the same values is up to the screen, for those who do not see them. */
export function Bars({ title, labels, series, format }: BarsProps) {
  const sums = labels.map((_, index) => series.reduce((sum, { values }) => sum + values[index]!, 0))
  const highest = Math.max(...sums, 0)
  const track = width / labels.length
  return (
    <figure className={classes.bars}>
      <figcaption>
        <h2>{title}</h2>
        <span>highest day {format(highest)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={describe(title, sums, format)}
      >
        {labels.map((label, index) => (
          <g key={label}>
            <title>{explain(label, index, series, format)}</title>
            <rect className={classes.hit} x={index * track} y={0} width={track} height={height} />
            {stack(series, index, highest).map(({ name, low, high, colour }) => (
              <rect
                key={name}
                data-series={colour}
                x={(index + gap / 2) * track}
                y={(1 - high) * height}
                width={track * (1 - gap)}
                height={(high - low) * height}
              />
            ))}
          </g>
        ))}
      </svg>
      <p className={classes.ends}>
        <span>{labels[0]}</span>
        <span>{labels.at(-1)}</span>
      </p>
      <ul className={classes.legend}>
        {series.map(({ name, total }, index) => (
          <li key={name} data-series={index}>
            <span>{name}</span> <b>{format(total)}</b>
          </li>
        ))}
      </ul>
    </figure>
  )
}

/** Where the parts of a bar begin and end, from 0 to 1. */
function stack(series: BarsProps['series'], index: number, highest: number) {
  let low = 0
  return series.flatMap(({ name, values }, colour) => {
    const value = values[index]!
    if (value === 0) return []
    const part = { name, colour, low, high: low + value / highest }
    low = part.high
    return [part]
  })
}

function explain(label: string, index: number, series: BarsProps['series'], format: BarsProps['format']): string {
  const parts = series.filter(({ values }) => values[index]! > 0)
  return [label, ...parts.map(({ name, values }) => `${name}  ${format(values[index]!)}`)].join('\n')
}

function describe(title: string, sums: readonly number[], format: BarsProps['format']): string {
  const all = sums.reduce((sum, value) => sum + value, 0)
  return `${title}: ${format(all)} in ${sums.length} days, ${format(Math.max(...sums, 0))} on the highest.`
}
