import { useMemo } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { locate } from '../../data/client.ts'
import { usePolling } from '../../data/live.ts'
import { metricKeysQuery, metricsQuery, type Metric, type MetricRange } from '../../data/metrics.ts'
import { wholeListQuery } from '../../data/queries.ts'
import { writeCurl } from '../../logic/command.ts'
import {
  axes,
  axisOf,
  bandOf,
  deviationsOf,
  positionMarkers,
  stepAt,
  type Axis,
  type Curve,
  type Marker,
} from '../../logic/curves.ts'
import { leaveOutCopies } from '../../logic/metric-names.ts'
import { countOf } from '../../logic/numbers.ts'
import { readChoice, readInteger } from '../../logic/search.ts'
import { arrangeCharts } from '../../logic/series.ts'
import { Chart, formatPosition, type Series } from '../../parts/chart.tsx'
import { FilterField, Segments } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import { EmptyRun } from './empty-run.tsx'
import { useModel } from './use-model.ts'
import classes from './charts.module.css'

const keysOperation = 'GET /v1/preview/models/{model_id}/metric-keys'
const keysOf = (id: string) => ({ path: { model_id: id } })
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
          <EmptyRun title="Nothing is trained or logged yet">
            The first points appear when the first training job of {model.name} has made a step.
          </EmptyRun>
        ) : (
          <Charts modelId={model.id} metrics={metrics} />
        )
      }
    </Answered>
  )
}

function Charts({ modelId, metrics }: { modelId: string; metrics: readonly Metric[] }) {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from })
  const name = readChoice(search.x, axes)
  const axis = axisOf(name)
  const keys = useMemo(() => listKeys(metrics, axis), [metrics, axis])
  const markers = useMarkers(axis, metrics)
  const charts = useMemo(() => arrangeCharts(keys, search.q), [keys, search.q])
  const [begin, end] = [readInteger(search.from, 13), readInteger(search.to, 13)]
  const range = useMemo(
    () => (begin !== undefined && end !== undefined && end > begin ? { from: begin, to: end } : undefined),
    [begin, end],
  )
  const change = (changes: object) => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true })
  const queries = useQueryClient()
  const rows = () =>
    charts.flatMap((own) => {
      const curves = queries.getQueryData(chartQuery(modelId, own, { axis, ...range }).queryKey) ?? {}
      return Object.entries(curves).map(([key, curve]) => ({ key, axis, ...curve }))
    })
  return (
    <>
      <div className={classes.bar}>
        <FilterField label="Find a metric" value={search.q} onChange={(q) => change({ q })} />
        <Segments
          label="Axis"
          choices={axes}
          value={name}
          onChoose={(x) => change({ x: x === 'step' ? undefined : x, from: undefined, to: undefined })}
        />
        {range && (
          <button type="button" className={controls.button} onClick={() => change({ from: undefined, to: undefined })}>
            {formatPosition(range.from, axis)} to {formatPosition(range.to, axis)} ✕
          </button>
        )}
        <p role="status">{countOf(charts.length, 'chart')}</p>
        <Download name={`${modelId}-metrics`} rows={rows} />
        <p className={classes.hint}>Drag to zoom, click a point for its trajectories</p>
      </div>
      {charts.length === 0 && (
        <Empty title="No metric has these words" command={writeCurl(baseUrl, locate(keysOperation, keysOf(modelId)))}>
          The command lists all metrics of the run.
        </Empty>
      )}
      <div className={classes.charts}>
        {charts.map((chart) => (
          <RunChart
            key={chart.join()}
            modelId={modelId}
            keys={chart}
            axis={axis}
            markers={markers}
            range={range}
            onZoom={(zoom) => change({ from: zoom && String(zoom.from), to: zoom && String(zoom.to) })}
          />
        ))}
      </div>
    </>
  )
}

/** The metrics that have values along an axis. What clients log has steps only. */
function listKeys(metrics: readonly Metric[], axis: Axis): string[] {
  const fits = ({ source }: Metric) =>
    axis === 'step' || source === 'gradient' || (axis === 'time' && source === 'training')
  const shown = leaveOutCopies(metrics).filter(fits)
  return [...new Set(shown.map(({ key }) => key))]
}

// Charts show where the newest jobs ended.
const maxJobs = 500

/** The checkpoints, aliases and failures of the run. */
function useMarkers(axis: Axis, metrics: readonly Metric[]): Marker[] {
  const { id, aliases } = useModel()
  const { data } = useQuery({
    ...wholeListQuery('GET /v1/preview/training-jobs', { query: { model_id: id, order: 'desc' } }, maxJobs),
    refetchInterval: usePolling(),
  })
  const total = Math.max(0, ...metrics.filter(({ source }) => source === 'gradient').map(({ count }) => count))
  return useMemo(() => positionMarkers(axis, { jobs: data?.items ?? [], aliases, total }), [axis, data, aliases, total])
}

/** The metrics of a chart, with those that its bands are made of. */
function chartQuery(modelId: string, keys: readonly string[], range: MetricRange) {
  return metricsQuery(modelId, [...new Set([...keys, ...keys.flatMap(deviationsOf)])], range)
}

interface RunChartProps {
  modelId: string
  keys: readonly string[]
  axis: Axis
  markers: readonly Marker[]
  range: { from: number; to: number } | undefined
  onZoom: (range: { from: number; to: number } | undefined) => void
}

function RunChart({ modelId, keys, axis, markers, range, onZoom }: RunChartProps) {
  const { entity, project, run } = useParams({ from: route })
  const navigate = useNavigate({ from })
  const { data } = useQuery({
    ...chartQuery(modelId, keys, { axis, ...range }),
    refetchInterval: usePolling(),
    // Values of one axis have other positions on another.
    placeholderData: (before, query) => (query?.queryKey[1].query?.x === axis ? before : undefined),
  })
  const series = useMemo(() => keys.map((key) => readSeries(key, data ?? {})), [keys, data])
  const openStep = (position: number) => {
    const step = stepAt(position, axis, markers)
    if (step === undefined) return
    void navigate({
      to: '/$entity/$project/runs/$run/trajectories',
      params: { entity, project, run },
      search: { step: String(step) },
    })
  }
  return (
    <Chart
      title={keys[0]!}
      axis={axis}
      series={series}
      markers={markers}
      range={range}
      onZoom={onZoom}
      onStep={openStep}
    />
  )
}

function readSeries(key: string, curves: Record<string, Curve>): Series {
  const { points = [], width = 1 } = curves[key] ?? {}
  const band = bandOf(key, curves)
  return { name: key, points, width, ...(band && { band }) }
}
