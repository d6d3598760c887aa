// Messages that are not about an incident, and have a runbook all the same: what they mean and what to do. Each has its page in alerts/runbooks, a test holds it.
export const MESSAGE_PAGES = {
  waste_summary: 'GPU time was held and idle, or lost',
  action_result: 'An action was done, failed or was skipped',
} as const
export type MessagePage = keyof typeof MESSAGE_PAGES
export const MESSAGE_PAGE_NAMES: readonly MessagePage[] = ['action_result', 'waste_summary']
export const messagePagePath = (page: MessagePage): string => `/runbooks/${page}`
