import { useCallback, useEffect, useState, type FormEvent } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { basePath } from '../../data/base.ts'
import { ApiError } from '../../data/client.ts'
import { logIn, sessionQuery } from '../../data/session.ts'
import { readNext } from '../../logic/search.ts'
import { Command } from '../../parts/command.tsx'
import { Logo } from '../../parts/logo.tsx'
import controls from '../../parts/controls.module.css'
import classes from './login.module.css'

type Proof = Parameters<typeof logIn>[0]

/** The code of a printed link. It is behind the `#`, so that no server and no log sees it. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search)
  return code
}

/** A code can be used once, so it is taken once, even if the screen is drawn again. */
let code = takeCode()

/** Logs in with a key, or with the code of a printed link. */
export function LoginScreen() {
  const [key, setKey] = useState('')
  const { isBusy, error, enter } = useEntry()

  useEffect(() => {
    document.title = 'Log in · Trainyard'
    if (code === undefined) return
    const proof = { code }
    code = undefined
    void enter(proof)
  }, [enter])

  const submit = (event: FormEvent) => {
    event.preventDefault()
    void enter({ api_key: key.trim() })
  }
  return (
    <main className={classes.login}>
      <div className={classes.box}>
        <h1>
          <Logo /> Trainyard
        </h1>
        <form onSubmit={submit}>
          <label htmlFor="key">API key</label>
          <input
            id="key"
            className={controls.input}
            type="password"
            autoComplete="off"
            spellCheck={false}
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
            aria-describedby={error === undefined ? 'hint' : 'fault'}
          />
          {error !== undefined && (
            <p id="fault" role="alert" className={classes.fault}>
              {error}
            </p>
          )}
          <button type="submit" className={controls.primary} disabled={isBusy}>
            {isBusy ? 'Logging in …' : 'Log in'}
          </button>
        </form>
        <div id="hint" className={classes.hint}>
          <p>On the machine that runs Trainyard, its key is in a file:</p>
          <Command text="grep API_KEY .trainyard/env" />
          <p>The key is sent once, for a session of this browser, and stored nowhere in it.</p>
        </div>
      </div>
    </main>
  )
}

function useEntry() {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const queries = useQueryClient()
  const router = useRouter()
  const { next } = useSearch({ from: '/login' })
  const enter = useCallback(
    async (proof: Proof) => {
      setBusy(true)
      setError(undefined)
      try {
        const session = await logIn(proof)
        // What another session has read is not of this one.
        queries.clear()
        queries.setQueryData(sessionQuery.queryKey, session)
        router.history.push(basePath + readNext(next))
      } catch (failure) {
        setError(sayWhy(failure, 'code' in proof))
      }
      setBusy(false)
    },
    [queries, router, next],
  )
  return { isBusy, error, enter }
}

function sayWhy(failure: unknown, isCode: boolean): string {
  if (failure instanceof ApiError && failure.status === 401)
    return isCode ? 'This link was used already, or is too old. Log in with a key.' : 'This key is not valid.'
  return failure instanceof Error ? failure.message : String(failure)
}
