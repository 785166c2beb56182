import { useCallback, useEffect, useRef, useState } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { readNumber, writePrompt, type ChatSettings } from '../../logic/playground.ts'

export const route = '/inside/$entity/$project/playground'

/** What a person has typed. The address follows when they pause. */
export interface Draft {
  prompt: string
  system: string
  t: string
  max: string
  seed: string
}

const pauseMs = 200
/** A seed that is the same in all panes makes their answers comparable. */
const defaults = { t: '1', max: '256', seed: '1' }

export function useDraft(): [Draft, (changes: Partial<Draft>) => void] {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/playground' })
  const [draft, setDraft] = useState<Draft>(() => ({
    prompt: search.prompt ?? '',
    system: search.system ?? '',
    t: search.t ?? defaults.t,
    max: search.max ?? defaults.max,
    seed: search.seed ?? defaults.seed,
  }))
  const isTyped = useRef(false)
  useEffect(() => {
    if (!isTyped.current) return undefined
    const changes = {
      prompt: writePrompt(draft.prompt),
      system: writePrompt(draft.system),
      t: draft.t === defaults.t ? undefined : draft.t,
      max: draft.max === defaults.max ? undefined : draft.max,
      seed: draft.seed === defaults.seed ? undefined : draft.seed,
    }
    const timer = setTimeout(() => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true }), pauseMs)
    return () => clearTimeout(timer)
  }, [draft, navigate])
  const change = useCallback((changes: Partial<Draft>) => {
    isTyped.current = true
    setDraft((before) => ({ ...before, ...changes }))
  }, [])
  return [draft, change]
}

/** The settings of the request. What cannot be used is left to the server's defaults. */
export function readSettings({ system, t, max, seed }: Draft): ChatSettings {
  return {
    system,
    temperature: readNumber(t, 0, 2),
    maxTokens: readNumber(max, 1, 1_000_000),
    seed: readNumber(seed, 0, Number.MAX_SAFE_INTEGER),
  }
}
