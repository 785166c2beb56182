/** The mark of Trainyard: tracks that join. */
export function Logo() {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" fill="none" aria-hidden="true">
      <path d="M3 15V9c0-3 2.5-4.5 6-4.5h6" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round" />
      <path
        d="M3 9h12M9 15v-1.5c0-2.5 1.5-4.5 4-4.5"
        stroke="currentColor"
        strokeWidth="2.2"
        strokeLinecap="round"
        opacity="0.45"
      />
    </svg>
  )
}
