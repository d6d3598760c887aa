// Words by which a line speaks about ends instead of reporting one.

/** Advice, documentation, what would be, and what is tried again. */
export const SUPPOSED =
  /\b(?:if|when|whenever|unless|in case|should|would|might|may|could|means?|meaning|usually|typically|often|indicates?|e\.g\.|i\.e\.|for example|such as|expect(?:s|ed|ing)?|ignor(?:e|es|ed|ing)|treat(?:s|ed|ing)?|allow(?:s|ed)?|assert\w{0,4}|previous(?:ly)?|last time|earlier|yesterday|retry(?:ing)?|retried|restart(?:s|ed|ing)?|respawn\w{0,3}|relaunch\w{0,3}|that (?:is|was|are|were)|try again|next attempt)\b/i
