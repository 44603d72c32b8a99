# haggle with a local chain: compose.yaml runs all services but PostgreSQL from this image. The chain is the
# Agave release's solana-test-validator, which has no Linux arm64 build, so the image is for linux/amd64. With
# --build-arg, GOPROXY names another module proxy, and AGAVE_ARCHIVE a mirror of the release's archive.
FROM golang:1.26-bookworm AS build
ARG GOPROXY
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/ ./cmd/haggle

FROM debian:bookworm-slim AS chain
RUN apt-get update \
    && apt-get install -y --no-install-recommends bzip2 ca-certificates curl \
    && rm -rf /var/lib/apt/lists/*
ARG AGAVE_VERSION=4.2.2
ARG AGAVE_ARCHIVE=https://github.com/anza-xyz/agave/releases/download/v${AGAVE_VERSION}/solana-release-x86_64-unknown-linux-gnu.tar.bz2
RUN curl -sSfL "$AGAVE_ARCHIVE" -o /tmp/agave.tar.bz2 \
    && mkdir /out \
    && tar -xjf /tmp/agave.tar.bz2 -C /out --strip-components 2 solana-release/bin/solana-test-validator \
    && rm /tmp/agave.tar.bz2

FROM debian:bookworm-slim
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=chain /out/ /usr/local/bin/
COPY --from=build /out/ /usr/local/bin/
# A new volume takes its owner from the folder of the image.
RUN useradd --create-home haggle && install -d -o haggle -g haggle -m 700 /chain /state
ENV XDG_STATE_HOME=/state
USER haggle
WORKDIR /chain
# The build fails here if the validator needs a newer system or a missing library.
RUN solana-test-validator --version && haggle version
ENTRYPOINT ["haggle"]
CMD ["--help"]
