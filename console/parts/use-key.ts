import { useEffect, useLayoutEffect, useRef } from 'react'
import { readKey, type KeyName } from '../logic/keys.ts'

/** The key that was pressed before the last one: `g` and a letter go to a page. */
let [before, last] = ['', '']
addEventListener('keydown', ({ key }) => ([before, last] = [last, key]), { capture: true })

/** Does something when a key of the table is pressed, while `isOn`. */
export function useKey(name: KeyName, act: () => void, isOn = true): void {
  const latest = useRef(act)
  // A key may follow the last one before the next frame.
  useLayoutEffect(() => {
    latest.current = act
  })
  useEffect(() => {
    if (!isOn) return undefined
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      const isInField = target instanceof HTMLElement && target.matches('input:not([type=range]), textarea, select')
      // One that was just closed stays for a moment, with the focus.
      const isInDialog = target instanceof HTMLElement && target.closest('dialog[open]') !== null
      if (isInDialog || readKey({ key, ctrlKey, metaKey, altKey, isInField }, before) !== name) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [name, isOn])
}
