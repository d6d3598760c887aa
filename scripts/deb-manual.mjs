// The manual page warpwatch(1), made of what `warpwatch --help` prints.

/** In roff a dot or a quote at the begin of a line is a request, and a bare hyphen may become a dash. */
const escaped = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&')

export function manualPage(help, date) {
  const [usage, summary, ...rest] = help.trimEnd().split('\n')
  return `.TH WARPWATCH 1 ${date.toISOString().slice(0, 10)} Warpwatch "User Commands"
.SH NAME
warpwatch \\- ${escaped(summary.replace(/^The /, '').replace(/\.$/, ''))}
.SH SYNOPSIS
.B ${escaped(usage)}
.SH DESCRIPTION
.nf
${escaped(rest.join('\n').trim())}
.fi
.SH FILES
.TP
.I /etc/warpwatch/warpwatch.yaml
configuration; /usr/share/doc/warpwatch/warpwatch.example.yaml names every key
.TP
.I /etc/default/warpwatch
environment of the service, such as WARPWATCH_HTTP__TOKEN
.TP
.I /var/lib/warpwatch
history and incidents
.SH SEE ALSO
.I /usr/share/doc/warpwatch
`
}
