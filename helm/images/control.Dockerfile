# apiserver, operator, status server and the administrator's commands. docs/images.md describes it; bake.json has the arguments.
ARG NODE
ARG DEBIAN

FROM ${NODE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The lockfile pins Node too, as a package. That one runs the processes, as in the tests. Types and source maps are not loaded.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && mkdir /opt/bin && mv node_modules/node-linux-*/bin/node /opt/bin/node \
  && rm -r node_modules/node-linux-* node_modules/.bin \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM ${NODE} AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY console ./console
RUN node_modules/node-linux-*/bin/node console/build.ts

FROM ${DEBIAN}
RUN groupadd --gid 1000 trainyard \
  && useradd --uid 1000 --gid 1000 --home-dir /home/trainyard --no-create-home --shell /usr/sbin/nologin trainyard
COPY --from=packages /opt/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE THIRD-PARTY-NOTICES.md ./
COPY lib ./lib
COPY crds ./crds
COPY db ./db
COPY artifacts ./artifacts
COPY apiserver ./apiserver
COPY operator ./operator
COPY --from=console /app/console/dist ./console/dist
ENV NODE_ENV=production
USER 1000:1000
CMD ["node", "apiserver/main.ts"]
