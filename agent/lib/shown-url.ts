// A URL as it may be shown: without the credentials and the query, where secrets stand.

export const HIDDEN = '(hidden)'

/** `https://(hidden)@host/health?(hidden)`; still a URL. What is none is hidden as a whole. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return HIDDEN
  const { protocol, username, password, host, pathname, search } = new URL(text)
  return `${protocol}//${username === '' && password === '' ? '' : `${HIDDEN}@`}${host}${pathname}${search === '' ? '' : `?${HIDDEN}`}`
}

/** Of a URL that is a secret, as those of webhooks are, only the host may be shown; what is no URL of http is hidden as a whole. */
export function shownHost(text: string): string {
  const { protocol, host } = URL.canParse(text) ? new URL(text) : { protocol: '', host: '' }
  return /^https?:$/.test(protocol) ? `${protocol}//${host}/${HIDDEN}` : HIDDEN
}
