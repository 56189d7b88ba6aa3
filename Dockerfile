# One static program and nothing else:
#
#     docker build -t proxylint .
#     docker run --rm -v "$PWD:/work:ro" proxylint check --nginx 1.28 .
FROM rust:1.95-alpine AS build
RUN apk add --no-cache build-base
WORKDIR /src
COPY . .
# The toolchain of the image is the one of rust-toolchain.toml; musl links statically.
RUN cargo build --release --locked --bin proxylint

FROM scratch
COPY --from=build /src/target/release/proxylint /proxylint
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/proxylint"]
CMD ["check", "."]
