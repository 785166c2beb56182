import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { usePolling } from '../../data/live.ts'
import { metricKeysQuery, metricsQuery } from '../../data/metrics.ts'
import { apiQuery } from '../../data/queries.ts'
import { countOf } from '../../logic/numbers.ts'
import { readInteger } from '../../logic/search.ts'
import { arrangeCharts, makeBand, type Point } from '../../logic/series.ts'
import { Chart, type Marker, type Series } from '../../parts/chart.tsx'
import { FilterField } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Answered, Empty } from '../../parts/state.tsx'
import { useModel } from './use-model.ts'
import classes from './charts.module.css'

const route = '/inside/$entity/$project/runs/$run/'
const from = '/$entity/$project/runs/$run'

/** The charts of a run, those that everybody asks for first. */
export function ChartsTab() {
  const model = useModel()
  const keys = useQuery({ ...metricKeysQuery(model.id), refetchInterval: usePolling() })
  return (
    <Answered result={keys} rows={12}>
      {(metrics) =>
        metrics.length === 0 ? (
          <Empty title="Nothing is trained or logged yet">
            The first points appear when the first training job of {model.name} has made a step.
          </Empty>
        ) : (
          <Charts modelId={model.id} keys={[...new Set(metrics.map(({ key }) => key))]} />
        )
      }
    </Answered>
  )
}

function Charts({ modelId, keys }: { modelId: string; keys: readonly string[] }) {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from })
  const markers = useMarkers(modelId)
  const charts = useMemo(() => arrangeCharts(keys, search.q), [keys, search.q])
  const [begin, end] = [readInteger(search.from), readInteger(search.to)]
  const range = useMemo(
    () => (begin !== undefined && end !== undefined && end > begin ? { from: begin, to: end } : undefined),
    [begin, end],
  )
  const change = (changes: object) => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true })
  return (
    <>
      <div className={classes.bar}>
        <FilterField label="Find a metric" value={search.q} onChange={(q) => change({ q })} />
        {range && (
          <button type="button" className={controls.button} onClick={() => change({ from: undefined, to: undefined })}>
            Steps {range.from} to {range.to} ✕
          </button>
        )}
        <p role="status">{countOf(charts.length, 'chart')}</p>
        <p className={classes.hint}>Drag to zoom, click a point for its trajectories</p>
      </div>
      {charts.length === 0 && <Empty title="No metric has these words" />}
      <div className={classes.charts}>
        {charts.map((chart) => (
          <RunChart
            key={chart.join()}
            modelId={modelId}
            keys={chart}
            markers={markers}
            range={range}
            onZoom={(zoom) => change({ from: zoom && String(zoom.from), to: zoom && String(zoom.to) })}
          />
        ))}
      </div>
    </>
  )
}

/** The steps that aliases point at. */
function useMarkers(modelId: string): Marker[] {
  const { data } = useQuery(apiQuery('GET /v1/preview/models/{model_id}', { path: { model_id: modelId } }))
  return useMemo(() => Object.entries(data?.aliases ?? {}).map(([name, step]) => ({ name, step })), [data])
}

interface RunChartProps {
  modelId: string
  keys: readonly string[]
  markers: readonly Marker[]
  range: { from: number; to: number } | undefined
  onZoom: (range: { from: number; to: number } | undefined) => void
}

const deviationOf: Record<string, string> = { reward: 'reward_std_dev', 'train/reward': 'reward_std_dev' }

function RunChart({ modelId, keys, markers, range, onZoom }: RunChartProps) {
  const { entity, project, run } = useParams({ from: route })
  const navigate = useNavigate({ from })
  const asked = [...keys, ...keys.flatMap((key) => deviationOf[key] ?? [])]
  const { data } = useQuery({ ...metricsQuery(modelId, asked), refetchInterval: usePolling() })
  const series = useMemo(() => keys.map((key) => readSeries(key, data ?? {})), [keys, data])
  const openStep = (step: number) =>
    void navigate({
      to: '/$entity/$project/runs/$run/trajectories',
      params: { entity, project, run },
      search: { step: String(step) },
    })
  return <Chart title={keys[0]!} series={series} markers={markers} range={range} onZoom={onZoom} onStep={openStep} />
}

function readSeries(key: string, data: Record<string, Point[]>): Series {
  const points = data[key] ?? []
  const deviation = data[deviationOf[key] ?? '']
  return { name: key, points, ...(deviation && { band: makeBand(points, deviation) }) }
}
