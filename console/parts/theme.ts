export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const storageKey = 'trainyard.theme'

/** The theme of the address (`?theme=`), else the one that was chosen in this browser. */
export function readTheme(): Theme {
  const asked = new URLSearchParams(location.search).get('theme') ?? readStored()
  return themes.find((theme) => theme === asked) ?? 'system'
}

// A browser may forbid storage.
function readStored(): string | null {
  try {
    return localStorage.getItem(storageKey)
  } catch {
    return null
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  // Charts are drawn in colours and not in variables.
  dispatchEvent(new Event('trainyard:theme'))
}

export function chooseTheme(theme: Theme): void {
  applyTheme(theme)
  try {
    localStorage.setItem(storageKey, theme)
  } catch {
    // The choice holds until the page is left.
  }
}
