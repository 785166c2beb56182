import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { usePolling } from '../../data/live.ts'
import type { Trajectory } from '../../data/models.ts'
import { wholeListQuery } from '../../data/queries.ts'
import { groupTrajectories, listMetrics, sortTrajectories, trajectoryOrders } from '../../logic/groups.ts'
import type { ListSize } from '../../logic/numbers.ts'
import { readChoice, readInteger, readList, toggle, writeList } from '../../logic/search.ts'
import { ColumnMenu } from '../../parts/column-menu.tsx'
import { FilterField, Segments } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { WithPeek } from '../../parts/peek.tsx'
import { useRowKeys } from '../../parts/row-keys.ts'
import { Answered } from '../../parts/state.tsx'
import { GroupList } from './group-list.tsx'
import { Matches } from './matches.tsx'
import { TrajectoryPeek } from './peek.tsx'
import { RewardChanges } from './reward-changes.tsx'
import { Summary } from './summary.tsx'
import { StepSlider } from './step-slider.tsx'
import { TrajectoryTable } from './trajectory-table.tsx'
import { EmptyRun } from './empty-run.tsx'
import { useModel } from './use-model.ts'
import classes from './trajectories.module.css'

const route = '/inside/$entity/$project/runs/$run/trajectories'
const splits = ['any', 'train', 'val'] as const
const maxShown = 2_000
// A list of steps that a person can still read.
const maxSince = 200
// A search needs so many characters.
const minTextLength = 2

/** The trajectories of a step: in their groups, or ranked by a number; or those that say a text. */
export function TrajectoriesTab() {
  const model = useModel()
  const { state, change } = useTabState(model.latest_step)
  const { step, split, scenario, order } = state
  return (
    <>
      <div className={classes.bar}>
        <StepSlider
          step={step}
          last={model.latest_step}
          onChange={(next) => change({ step: String(next), peek: undefined })}
        />
        <Segments
          label="Split"
          choices={splits}
          value={split}
          onChoose={(next) => change({ split: next === 'any' ? undefined : next })}
        />
        <label className={classes.order}>
          Order
          <select
            className={controls.select}
            value={order}
            onChange={(event) => change({ order: event.currentTarget.value })}
          >
            {trajectoryOrders.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label className={classes.order}>
          Rise since step
          <select
            className={controls.select}
            value={state.since ?? ''}
            onChange={(event) => change({ since: event.currentTarget.value || undefined, q: undefined })}
          >
            <option value="">–</option>
            {Array.from({ length: Math.min(step, maxSince) }, (_, index) => (
              <option key={index}>{step - 1 - index}</option>
            ))}
          </select>
        </label>
        <FilterField label="Search text" value={state.q} onChange={(q) => change({ q, peek: undefined })} />
        {scenario !== undefined && (
          <button type="button" className={controls.button} onClick={() => change({ scenario: undefined })}>
            {scenario} ✕
          </button>
        )}
      </div>
      <Rows />
    </>
  )
}

function Rows() {
  const model = useModel()
  const { state, filter } = useTabState(model.latest_step)
  if (state.q !== undefined && state.q.length >= minTextLength) return <Searched text={state.q} />
  if (state.since === undefined) return <Listed />
  return <RewardChanges since={state.since} step={state.step} filter={filter} />
}

function useTabState(lastStep: number) {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/runs/$run/trajectories' })
  const state = {
    step: readInteger(search.step) ?? lastStep,
    split: readChoice(search.split, splits),
    order: readChoice(search.order, trajectoryOrders),
    scenario: search.scenario,
    peek: search.peek,
    q: search.q,
    since: readInteger(search.since),
    columns: readList(search.cols),
  }
  const filter = {
    step: state.step,
    ...(state.split !== 'any' && { split: state.split }),
    ...(state.scenario !== undefined && { scenario_id: state.scenario }),
  }
  const change = (changes: { [Key in keyof typeof search]?: string | undefined }) =>
    void navigate({ search: (all) => ({ ...all, ...changes }), replace: true })
  return { state, filter, change }
}

function Listed() {
  const model = useModel()
  const { state, filter } = useTabState(model.latest_step)
  // In the order of a number, the first of many come first.
  const sort = state.order === 'group' ? {} : ({ sort: state.order, order: 'desc' } as const)
  const path = { model_id: model.id }
  const rows = useQuery({
    ...wholeListQuery(
      'GET /v1/preview/models/{model_id}/trajectories',
      { path, query: { ...filter, ...sort } },
      maxShown,
    ),
    refetchInterval: usePolling(),
  })
  return (
    <Answered result={rows} rows={12}>
      {({ items, ...size }) => <Shown items={items} size={size} />}
    </Answered>
  )
}

function Searched({ text }: { text: string }) {
  const model = useModel()
  const { state, filter, change } = useTabState(model.latest_step)
  const open = (id: string | undefined) => change({ peek: id })
  return (
    <WithPeek peek={state.peek !== undefined && <TrajectoryPeek id={state.peek} onClose={() => open(undefined)} />}>
      <Matches text={text} filter={filter} selected={state.peek} onOpen={open} />
    </WithPeek>
  )
}

function Shown({ items, size }: { items: Trajectory[]; size: ListSize }) {
  const model = useModel()
  const { state, change } = useTabState(model.latest_step)
  const { order, peek, columns } = state
  const groups = useMemo(() => groupTrajectories(items), [items])
  const rows = useMemo(
    () => (order === 'group' ? groups.flatMap(({ trajectories }) => trajectories) : sortTrajectories(items, order)),
    [order, groups, items],
  )
  const open = (id: string | undefined) => change({ peek: id })
  useRowKeys(rows, peek, open)
  if (items.length === 0) {
    return (
      <EmptyRun title={`No trajectories at step ${state.step}`}>
        A step has the trajectories that its job was trained on, and those that were logged while it was the newest.
      </EmptyRun>
    )
  }
  const metrics = listMetrics(items)
  return (
    <WithPeek peek={peek !== undefined && <TrajectoryPeek id={peek} onClose={() => open(undefined)} />}>
      <div className={classes.listHead}>
        <Summary items={items} groups={groups} size={size} order={order} />
        {order !== 'push' && (
          <button type="button" className={controls.quiet} onClick={() => change({ order: 'push', split: undefined })}>
            What did this step learn from?
          </button>
        )}
        {order !== 'group' && metrics.length > 0 && (
          <ColumnMenu
            names={metrics}
            isShown={(name) => columns.includes(name)}
            onToggle={(name) => change({ cols: writeList(toggle(columns, name)) })}
          />
        )}
        <Download name={`${model.name}-step${state.step}-trajectories`} rows={rows} />
      </div>
      {order === 'group' ? (
        <GroupList groups={groups} selected={peek} onOpen={open} />
      ) : (
        <TrajectoryTable rows={rows} metrics={columns} selected={peek} onOpen={open} />
      )}
    </WithPeek>
  )
}
