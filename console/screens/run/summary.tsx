import type { Trajectory } from '../../data/models.ts'
import { summarizePushes, type Group, type TrajectoryOrder } from '../../logic/groups.ts'
import { countOf, describeSize, formatMetric, mean, type ListSize } from '../../logic/numbers.ts'
import classes from './trajectories.module.css'

interface SummaryProps {
  items: Trajectory[]
  groups: readonly Group<Trajectory>[]
  size: ListSize
  order: TrajectoryOrder
}

/** What is listed, in one sentence; in the order of pushes, what the step learned from. */
export function Summary({ items, groups, size, order }: SummaryProps) {
  const dropped = groups.filter(({ dropped: reason }) => reason !== undefined).length
  const { likelier, unlikelier, none, half } = summarizePushes(items)
  return (
    <p role="status" className={classes.summary}>
      {describeSize(items.length, size, 'trajectory', 'trajectories')} in {countOf(groups.length, 'group')}, mean reward{' '}
      {formatMetric(mean(items.map(({ reward }) => reward)))}
      {dropped > 0 && `, ${countOf(dropped, 'group')} taught nothing`}
      {order === 'push' &&
        likelier + unlikelier > 0 &&
        `. Training made ${likelier} more likely and ${unlikelier} less likely, ${none} had no effect; half of all ` +
          `push is that of ${half}`}
    </p>
  )
}
