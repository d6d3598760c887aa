# The agent as an image, linux/amd64 or linux/arm64, by the machine or the --platform that builds it: docs/docker.md. Works with BuildKit and with the older builder alike: no syntax image, no cache mounts.
# Debian and not Alpine: the driver's libnvidia-ml.so.1, which NVIDIA's runtime puts into the container, is linked to glibc.
# For a build that can be repeated to the byte, give both with a digest: --build-arg DEBIAN=debian:trixie-slim@sha256:…
ARG NODE=node:24-trixie-slim
ARG DEBIAN=debian:trixie-slim

FROM ${NODE} AS build
WORKDIR /src
# Before the sources, so that a change of these alone installs nothing anew. This Node only starts npm: what runs is the pinned one of the packages.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
ARG REVISION=
# No .git here and no times of files: the same sources and base give the same layer, whoever builds.
RUN SOURCE_COMMIT="$REVISION" npm run --silent bundle -- --fast --out /bundle \
  && mkdir -p /image/opt/warpwatch /image/usr/local/bin \
  && mkdir -p -m 0700 /image/var/lib/warpwatch \
  && tar -xzf /bundle/warpwatch-*-linux-*.tar.gz --strip-components=1 --no-same-owner -C /image/opt/warpwatch \
  && node scripts/sbom.mjs > /image/opt/warpwatch/warpwatch.cdx.json \
  && ln -s /opt/warpwatch/warpwatch /image/usr/local/bin/warpwatch \
  && find /image -exec touch -h -d @0 {} +

FROM ${DEBIAN}
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="Warpwatch" \
  org.opencontainers.image.description="Flight recorder for GPU hosts: who holds which GPU, what failed, why, and what to change" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
# Asks NVIDIA's runtime for NVML and the device files of all GPUs, without CUDA. A reservation in a compose file says the same.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=utility
COPY --from=build /image/ /
# Root on purpose: rights come to a container's root alone, and docs/docker.md says which few it needs. Others can be given with --user.
USER 0:0
EXPOSE 9839
STOPSIGNAL SIGTERM
# Whether the process answers, not whether it samples (/readyz): a driver that hangs must not look like an agent that does.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["/opt/warpwatch/bin/node", "-e", "require('http').get({port:(process.env.WARPWATCH_HTTP__LISTEN||'').split(':').at(-1)||9839,host:'127.0.0.1',path:'/healthz'},(answer)=>process.exit(answer.statusCode===200?0:1)).on('error',()=>process.exit(1))"]
ENTRYPOINT ["/opt/warpwatch/warpwatch"]
