import { useState, type FormEvent } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { feedbackQuery, giveFeedback, removeFeedback } from '../../data/calls.ts'
import { sessionQuery } from '../../data/session.ts'
import { writeCell, type Feedback } from '../../logic/calls.ts'
import { revealHidden } from '../../logic/chat.ts'
import { Age } from '../../parts/badges.tsx'
import controls from '../../parts/controls.module.css'
import { Answered } from '../../parts/state.tsx'
import classes from './call.module.css'

interface OfCall {
  projectId: string
  id: string
}

/** What people say of a call. A key removes what it has said. */
export function FeedbackList({ projectId, id }: OfCall) {
  const query = feedbackQuery(projectId, id)
  const result = useQuery(query)
  const queries = useQueryClient()
  const { data: session } = useQuery(sessionQuery)
  const change = useMutation({
    mutationFn: (send: () => Promise<void>) => send(),
    onSuccess: () => queries.invalidateQueries({ queryKey: query.queryKey }),
  })
  const canWrite = session?.role !== 'read'
  return (
    <div className={classes.feedback}>
      {canWrite && <Give onGive={(given) => change.mutateAsync(() => giveFeedback(projectId, id, given))} />}
      {change.error && <p role="alert">{change.error.message}</p>}
      <Answered result={result} rows={2}>
        {(all) => (
          <ul>
            {all.length === 0 && <li>No feedback yet.</li>}
            {all.map((each) => (
              <li key={each.id}>
                <span>{revealHidden(textOf(each))}</span>
                <Age time={each.created_at} />
                {canWrite && each.wb_user_id === session?.key_id && (
                  <button
                    type="button"
                    className={controls.quiet}
                    disabled={change.isPending}
                    onClick={() => change.mutate(() => removeFeedback(projectId, each.id))}
                  >
                    Remove
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </div>
  )
}

function textOf({ payload, feedback_type: type }: Feedback): string {
  const text = payload['emoji'] ?? payload['note']
  return typeof text === 'string' ? text : `${type}: ${writeCell(payload)}`
}

function Give({ onGive }: { onGive: (given: { emoji: string } | { note: string }) => Promise<unknown> }) {
  const [note, setNote] = useState('')
  // A note stays in its field if it could not be stored. The list shows why.
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void onGive({ note }).then(
      () => setNote(''),
      () => {},
    )
  }
  return (
    <form className={classes.bar} onSubmit={submit}>
      {['👍', '👎'].map((emoji) => (
        <button
          key={emoji}
          type="button"
          className={controls.button}
          aria-label={emoji === '👍' ? 'Good' : 'Bad'}
          onClick={() => void onGive({ emoji }).catch(() => {})}
        >
          {emoji}
        </button>
      ))}
      <input
        className={controls.input}
        aria-label="Note"
        placeholder="Note"
        required
        maxLength={1_000}
        value={note}
        onInput={(event) => setNote(event.currentTarget.value)}
      />
      <button type="submit" className={controls.button}>
        Add the note
      </button>
    </form>
  )
}
