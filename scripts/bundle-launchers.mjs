// The small shell scripts at the top of a bundle.
import { nodeFlags } from './node-flags.mjs'

/** Finds its own folder, also when called through a link or with an empty PATH, and becomes the bundle's Node with this script. */
export const launcher = (script) => `#!/bin/sh
# Runs the bundle's own Node; nothing of the host's is needed. A copy of this file alone does not work, a link to it does.
PATH="\${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
export PATH
self=$0
case $self in */*) ;; *) self=./$self ;; esac
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=\${self%/*}/$link ;; esac
done
here=$(CDPATH= cd -- "\${self%/*}" && pwd -P) || exit 2
case \${1-run} in
  run | -*) exec "$here/bin/node" ${nodeFlags([]).join(' ')} "$here/${script}" "$@" ;;
  warm-up) exec "$here/bin/node" ${nodeFlags([]).join(' ')} "$here/dist/warm-up.js" ;;
  top) exec "$here/bin/node" ${nodeFlags(['top']).join(' ')} "$here/${script}" "$@" ;;
  *) exec "$here/bin/node" "$here/${script}" "$@" ;;
esac
`
