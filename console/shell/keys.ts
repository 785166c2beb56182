import { useEffect } from 'react'
import { useNavigate } from '@tanstack/react-router'

/** Keys that work on every screen: `/` goes to the filter, `g` and a letter to a page. */
export function useKeys(place: { entity: string; project: string } | undefined): void {
  const navigate = useNavigate()
  const [entity, project] = [place?.entity, place?.project]
  useEffect(() => {
    let isAfterG = false
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) return
      if (event.key === '/') {
        event.preventDefault()
        document.querySelector<HTMLInputElement>('[data-filter]')?.focus()
      }
      if (isAfterG && entity !== undefined && project !== undefined) {
        if (event.key === 'o') void navigate({ to: '/$entity/$project', params: { entity, project } })
        if (event.key === 'r') void navigate({ to: '/$entity/$project/runs', params: { entity, project } })
        if (event.key === 'p') void navigate({ to: '/' })
      }
      isAfterG = event.key === 'g'
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [navigate, entity, project])
}

/** Whether a key belongs to a field or to the browser. */
function isTyping(event: KeyboardEvent): boolean {
  const { target } = event
  const isField = target instanceof HTMLElement && target.matches('input:not([type=range]), textarea, select')
  return isField || event.ctrlKey || event.metaKey || event.altKey
}
