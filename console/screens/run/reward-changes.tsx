import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { locate } from '../../data/client.ts'
import type { Trajectory } from '../../data/models.ts'
import { wholeListQuery } from '../../data/queries.ts'
import { writeCurl } from '../../logic/command.ts'
import { compareSteps, type Rise } from '../../logic/groups.ts'
import { countOf, formatMetric } from '../../logic/numbers.ts'
import { Signed } from '../../parts/badges.tsx'
import { Download } from '../../parts/download.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { useModel } from './use-model.ts'
import classes from './trajectories.module.css'

interface RewardChangesProps {
  since: number
  step: number
  filter: object
}

const operation = 'GET /v1/preview/models/{model_id}/trajectories'
const maxRows = 2_000

/** The prompts of two steps, those whose reward rose most first. */
export function RewardChanges({ since, step, filter }: RewardChangesProps) {
  const model = useModel()
  const partsOf = (of: number) => ({ path: { model_id: model.id }, query: { ...filter, step: of } })
  const rowsOf = (of: number) => wholeListQuery(operation, partsOf(of), maxRows)
  const [earlier, later] = [useQuery(rowsOf(since)), useQuery(rowsOf(step))]
  const rises = useMemo(
    () => earlier.data && later.data && compareSteps(earlier.data.items, later.data.items),
    [earlier.data, later.data],
  )
  const error = earlier.error ?? later.error
  const isWhole = earlier.data?.isWhole !== false && later.data?.isWhole !== false
  return (
    <Answered result={{ data: rises, error, refetch: later.refetch }} rows={8}>
      {(found) =>
        found.length === 0 ? (
          <Empty
            title={`No prompt is in step ${since} and in step ${step}`}
            command={[since, step].map((of) => writeCurl(baseUrl, locate(operation, partsOf(of)))).join('\n')}
          >
            The prompts of two steps are compared. The commands list the trajectories of each.
          </Empty>
        ) : (
          <>
            <div className={classes.listHead}>
              <p role="status" className={classes.summary}>
                {countOf(found.length, 'prompt')} of both steps, by how much their mean reward rose
                {!isWhole && `; of the first ${maxRows} trajectories of each`}
              </p>
              <Download name={`${model.name}-steps-${since}-${step}`} rows={found} />
            </div>
            <Table label="Prompts" columns={listColumns(since, step)} rows={found} keyOf={({ best }) => best.id} />
          </>
        )
      }
    </Answered>
  )
}

function listColumns(since: number, step: number): Column<Rise<Trajectory>>[] {
  return [
    { id: 'name', head: 'Prompt', width: 'minmax(160px, 1fr)', cell: (rise) => <Both rise={rise} /> },
    { id: 'before', head: `Step ${since}`, width: '84px', isNumber: true, cell: ({ before }) => formatMetric(before) },
    { id: 'after', head: `Step ${step}`, width: '84px', isNumber: true, cell: ({ after }) => formatMetric(after) },
    {
      id: 'rise',
      head: 'Rise',
      width: '84px',
      isNumber: true,
      cell: ({ rise }) => <Signed value={rise} />,
    },
  ]
}

/** Leads to a trajectory of the later step beside one of the earlier. */
function Both({ rise: { name, worst, best } }: { rise: Rise<Trajectory> }) {
  const params = useParams({ from: '/inside/$entity/$project/runs/$run' })
  return (
    <Link
      to="/$entity/$project/runs/$run/trajectories/$trajectory"
      params={{ ...params, trajectory: best.id }}
      search={{ diff: worst.id }}
      data-row
    >
      {name}
    </Link>
  )
}
