import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { runQuery, type Model } from '../../data/models.ts'

/** The model of the run that is shown. The run's screen shows a tab only when it is there. */
export function useModel(): Model {
  const { project, run } = useParams({ from: '/inside/$entity/$project/runs/$run' })
  return useQuery(runQuery(project, run)).data!
}
