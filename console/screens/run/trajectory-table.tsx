import { formatMetric } from '../../logic/numbers.ts'
import { Chip, Signed } from '../../parts/badges.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import type { Trajectory } from '../../data/models.ts'

interface TrajectoryTableProps {
  rows: readonly Trajectory[]
  /** The metrics that have columns. */
  metrics: readonly string[]
  selected: string | undefined
  onOpen: (id: string) => void
}

/** The trajectories of a step, ranked. */
export function TrajectoryTable({ rows, metrics, selected, onOpen }: TrajectoryTableProps) {
  return (
    <Table
      label="Trajectories"
      columns={listColumns(metrics, onOpen)}
      rows={rows}
      keyOf={({ id }) => id}
      selected={selected}
    />
  )
}

function listColumns(metrics: readonly string[], onOpen: (id: string) => void): Column<Trajectory>[] {
  return [
    {
      id: 'name',
      head: 'Scenario',
      width: 'minmax(180px, 1fr)',
      cell: ({ id, scenario_id, prompt_hash, group_index, trajectory_index }) => (
        <button type="button" data-row onClick={() => onOpen(id)}>
          {scenario_id ?? `prompt ${prompt_hash.slice(0, 8)}`}{' '}
          <small>
            {group_index}/{trajectory_index}
          </small>
        </button>
      ),
    },
    { id: 'split', head: 'Split', width: '64px', cell: ({ split }) => split },
    { id: 'reward', head: 'Reward', width: '84px', isNumber: true, cell: ({ reward }) => formatMetric(reward) },
    {
      id: 'advantage',
      head: 'Advantage',
      width: '96px',
      isNumber: true,
      cell: ({ advantage }) => <Signed value={advantage} />,
    },
    {
      id: 'push',
      head: 'Push',
      width: '84px',
      isNumber: true,
      cell: ({ push }) => <Signed value={push} />,
    },
    { id: 'tokens', head: 'Tokens', width: '76px', isNumber: true, cell: ({ tokens }) => tokens },
    ...metrics.map((name): Column<Trajectory> => ({
      id: `metric ${name}`,
      head: name,
      width: '112px',
      isNumber: true,
      cell: ({ metrics: { [name]: value } }) =>
        typeof value === 'boolean' ? (value ? 'yes' : 'no') : formatMetric(value),
    })),
    {
      id: 'flags',
      head: 'Flags',
      width: 'minmax(140px, 1fr)',
      cell: ({ flags }) => flags.map((flag) => <Chip key={flag}>{flag.replaceAll('_', ' ')}</Chip>),
    },
  ]
}
