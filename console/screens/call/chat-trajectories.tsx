import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { chatTrajectoriesQuery } from '../../data/trajectory-calls.ts'
import { nameStep } from '../../logic/groups.ts'
import { formatMetric } from '../../logic/numbers.ts'
import type { RunChat } from '../../logic/trajectory-calls.ts'
import { Signed } from '../../parts/badges.tsx'
import { Answered } from '../../parts/state.tsx'
import classes from './call.module.css'

/** The trajectories that a chat with a run became part of. */
export function ChatTrajectories({ chat }: { chat: RunChat }) {
  const { entity } = useParams({ from: '/inside/$entity/$project' })
  const result = useQuery(chatTrajectoriesQuery(chat))
  return (
    <Answered result={result} rows={3}>
      {(found) =>
        found.length === 0 ? (
          <p className={classes.none}>No later trajectory of {chat.run} has this prompt and this answer.</p>
        ) : (
          <ul className={classes.trajectories}>
            {found.map(({ id, step, reward, advantage, group_index: group, trajectory_index: index }) => (
              <li key={id}>
                <Link
                  to="/$entity/$project/runs/$run/trajectories/$trajectory"
                  params={{ entity, project: chat.project, run: chat.run, trajectory: id }}
                  className={classes.ref}
                >
                  {nameStep(step)}, {group}/{index}
                </Link>{' '}
                reward {formatMetric(reward)}, advantage <Signed value={advantage} />
              </li>
            ))}
          </ul>
        )
      }
    </Answered>
  )
}
