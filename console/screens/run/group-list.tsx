import type { Group } from '../../logic/groups.ts'
import { countOf, formatMetric } from '../../logic/numbers.ts'
import { Chip, Signed } from '../../parts/badges.tsx'
import type { Trajectory } from '../../data/models.ts'
import classes from './trajectories.module.css'

interface ListProps {
  selected: string | undefined
  onOpen: (id: string) => void
}

/** The groups of a step: each with the rewards of its trajectories, and whether it taught anything. */
export function GroupList({ groups, ...list }: ListProps & { groups: readonly Group<Trajectory>[] }) {
  const rewards = groups.flatMap(({ trajectories }) => trajectories.map(({ reward }) => reward))
  const range = { low: Math.min(...rewards), high: Math.max(...rewards) }
  return (
    <ol className={classes.groups}>
      {groups.map((group) => (
        <li key={group.key} className={classes.group}>
          <GroupHead group={group} range={range} {...list} />
          <ul>
            {group.trajectories.map((trajectory) => (
              <Row key={trajectory.id} trajectory={trajectory} {...list} />
            ))}
          </ul>
        </li>
      ))}
    </ol>
  )
}

interface Range {
  low: number
  high: number
}

function GroupHead({ group, range }: ListProps & { group: Group<Trajectory>; range: Range }) {
  const { name, trajectories, meanReward, deviation, dropped, exceptions } = group
  return (
    <div className={classes.groupHead}>
      <h2>{name}</h2>
      {dropped !== undefined && <Chip tone="orange">{`taught nothing: ${dropped}`}</Chip>}
      {exceptions > 0 && <Chip tone="orange">{countOf(exceptions, 'failed rollout')}</Chip>}
      <Dots trajectories={trajectories} range={range} />
      <span>
        {formatMetric(meanReward)} ± {formatMetric(deviation)}
      </span>
    </div>
  )
}

/** The rewards of a group on the line from the lowest to the highest reward of the step. */
function Dots({ trajectories, range: { low, high } }: { trajectories: readonly Trajectory[]; range: Range }) {
  return (
    <svg className={classes.dots} viewBox="-4 0 128 16" aria-hidden="true">
      <line x1="0" y1="8" x2="120" y2="8" />
      {trajectories.map(({ id, reward }) => (
        <circle key={id} cx={high === low ? 60 : ((reward - low) / (high - low)) * 120} cy="8" r="3.5" />
      ))}
    </svg>
  )
}

function Row({ trajectory, selected, onOpen }: ListProps & { trajectory: Trajectory }) {
  const { id, reward, advantage, push, tokens, flags, split, trajectory_index } = trajectory
  return (
    <li>
      <button type="button" className={classes.row} aria-pressed={id === selected} onClick={() => onOpen(id)}>
        <span>#{trajectory_index}</span>
        <span className={classes.number}>
          <small>reward</small> {formatMetric(reward)}
        </span>
        <span className={classes.number}>
          <small>advantage</small> <Signed value={advantage} />
        </span>
        <span className={classes.number}>
          <small>push</small> <Signed value={push} />
        </span>
        <span className={classes.number}>
          <small>tokens</small> {tokens}
        </span>
        <span className={classes.flags}>
          {split === 'val' && <Chip>val</Chip>}
          {flags.map((flag) => (
            <Chip key={flag}>{flag.replaceAll('_', ' ')}</Chip>
          ))}
        </span>
      </button>
    </li>
  )
}
