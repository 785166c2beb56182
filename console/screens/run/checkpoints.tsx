import { useQuery } from '@tanstack/react-query'
import { wholeListQuery, type Item } from '../../data/queries.ts'
import { usePolling } from '../../data/live.ts'
import { countOf, formatMetric } from '../../logic/numbers.ts'
import { Chip } from '../../parts/badges.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { CheckpointActions } from './checkpoint-actions.tsx'
import { useModel } from './use-model.ts'
import classes from './checkpoints.module.css'

type Checkpoint = Item<'GET /v1/preview/models/{model_id}/checkpoints'>

/** The checkpoints of a run, the newest first, with what can be done with them. */
export function CheckpointsTab() {
  const model = useModel()
  const checkpoints = useQuery({
    ...wholeListQuery('GET /v1/preview/models/{model_id}/checkpoints', { path: { model_id: model.id } }),
    refetchInterval: usePolling(),
  })
  return (
    <Answered result={checkpoints} rows={8}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No checkpoints yet">Each training job that succeeds makes one.</Empty>
        ) : (
          <>
            <p className={classes.count}>
              {countOf(items.length, 'checkpoint')}, the newest loaded by {countOf(model.loaded_engines, 'engine')}
            </p>
            <Table
              label="Checkpoints"
              columns={listColumns(items, model.aliases)}
              rows={items.toReversed()}
              keyOf={({ id }) => id}
            />
          </>
        )
      }
    </Answered>
  )
}

const maxMetrics = 6
const firstMetrics = ['reward', 'val/reward', 'loss', 'entropy', 'kl_div', 'grad_norm', 'clip_fraction']

function listColumns(items: readonly Checkpoint[], aliases: Record<string, number>): Column<Checkpoint>[] {
  const keys = new Set(items.flatMap(({ metrics }) => Object.keys(metrics)))
  const metrics = firstMetrics.filter((key) => keys.has(key)).slice(0, maxMetrics)
  return [
    { id: 'step', head: 'Step', width: '72px', cell: ({ step }) => <b className={classes.step}>{step}</b> },
    {
      id: 'aliases',
      head: 'Aliases',
      width: 'minmax(120px, 1fr)',
      cell: ({ step }) =>
        Object.entries(aliases)
          .filter(([, at]) => at === step)
          .map(([alias]) => (
            <Chip key={alias} tone="blue">
              {alias}
            </Chip>
          )),
    },
    ...metrics.map((key): Column<Checkpoint> => ({
      id: key,
      head: key,
      width: '112px',
      isNumber: true,
      cell: (checkpoint) => formatMetric(checkpoint.metrics[key]),
    })),
    {
      id: 'actions',
      head: 'Actions',
      width: '220px',
      isNumber: true,
      cell: ({ step }) => <CheckpointActions step={step} />,
    },
  ]
}
