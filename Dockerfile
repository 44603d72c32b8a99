# haggle with a local chain: docker compose (compose.yaml) runs chain, demo and indexer from it. The chain is
# the Agave release's solana-test-validator, which has no Linux arm64 build, so the image is for linux/amd64.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/ ./cmd/haggle ./cmd/buyer ./cmd/seller

FROM debian:bookworm-slim
ARG AGAVE_VERSION=4.2.2
RUN apt-get update \
    && apt-get install -y --no-install-recommends bzip2 ca-certificates curl \
    && rm -rf /var/lib/apt/lists/*
RUN curl -sSfL "https://github.com/anza-xyz/agave/releases/download/v${AGAVE_VERSION}/solana-release-x86_64-unknown-linux-gnu.tar.bz2" \
        -o /tmp/agave.tar.bz2 \
    && tar -xjf /tmp/agave.tar.bz2 -C /tmp \
    && install -m 755 /tmp/solana-release/bin/solana-test-validator /usr/local/bin/ \
    && rm -rf /tmp/agave.tar.bz2 /tmp/solana-release
COPY --from=build /out/ /usr/local/bin/
RUN useradd --create-home haggle && install -d -o haggle /chain
USER haggle
WORKDIR /chain
ENTRYPOINT ["haggle"]
CMD ["--help"]
