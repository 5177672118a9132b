# The operator's image: one bundled file, the foreign function interface, and Node. FoundationDB's client libraries come
# from init containers, one for each line that the clusters run; see deploy/chart.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN node_modules/.bin/node scripts/bundle.ts

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /operator
COPY --from=build /build/node_modules/koffi node_modules/koffi
COPY --from=build /build/node_modules/@koromix node_modules/@koromix
COPY --from=build /build/dist dist
USER 4059:4059
ENTRYPOINT ["node", "/operator/dist/fdb-operator.js"]
CMD ["run"]
