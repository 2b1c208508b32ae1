# docs/install.md shows how to run it. State is in one volume; everything else may be read-only.
# `--build-arg REVISION="$(git rev-parse HEAD)"` lets the image say its commit, and SOURCE where the code is.
# One base for both stages, so that an updater follows its digest, and `--from` of buildah replaces it.
FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS base

FROM base AS build
WORKDIR /src
# Without pip, which is not needed any more once the bot is installed.
RUN python -m venv --without-pip /opt/docs-bot
COPY requirements.txt ./
RUN pip --python /opt/docs-bot install --no-cache-dir --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE manifest.yml ./
COPY bot ./bot
RUN pip --python /opt/docs-bot install --no-cache-dir --no-deps --no-build-isolation . \
    && pip --python /opt/docs-bot uninstall --yes setuptools

FROM base
ENV PATH=/opt/docs-bot/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    HOST=0.0.0.0
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin docs-bot \
    && install --directory --owner docs-bot --group docs-bot --mode 700 /srv/docs-bot/var
COPY --from=build /opt/docs-bot /opt/docs-bot
# The SQLite file of the default DATABASE_URL, sqlite:///var/docs-bot.db, is in this folder's var/.
WORKDIR /srv/docs-bot
VOLUME /srv/docs-bot/var
# A number, so that a host can see that it is not root.
USER 10001:10001
# HTTP mode only: Slack's requests. Health stays inside unless HEALTH_HOST says otherwise.
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "import http.client as c, os, sys; at = c.HTTPConnection(os.getenv('HEALTH_HOST') or '127.0.0.1', int(os.getenv('HEALTH_PORT') or 3001), timeout=5); at.request('GET', '/readyz'); sys.exit(at.getresponse().status != 200)"]
# Last, because they change with every commit: https://specs.opencontainers.org/image-spec/annotations/
ARG REVISION=
ARG SOURCE=
ENV DOCS_BOT_COMMIT=$REVISION
LABEL org.opencontainers.image.version=1.0.0 \
      org.opencontainers.image.revision=$REVISION \
      org.opencontainers.image.source=$SOURCE
ENTRYPOINT ["docs-bot"]
CMD ["run"]
