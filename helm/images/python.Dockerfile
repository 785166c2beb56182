# An engine or a trainer, for processors or for CUDA: bake.json has the arguments of each. docs/images.md describes them.
ARG DEBIAN

FROM ${DEBIAN} AS python
# Triton and Inductor compile C and C++ against Python's headers while a model runs. vLLM for processors loads libnuma.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates g++ gcc libc6-dev libnuma1 python3 python3-dev python3-venv \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
  && groupadd --gid 1000 trainyard \
  && useradd --uid 1000 --gid 1000 --home-dir /home/trainyard --no-create-home --shell /usr/sbin/nologin trainyard

FROM python AS packages
ARG UV
# requirements.in or requirements-gpu.in. The .txt beside it pins every package, direct or not.
ARG REQUIREMENTS
# The packages of the .in file that this image does without.
ARG WITHOUT
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir --disable-pip-version-check "uv==${UV}"
WORKDIR /build
COPY trainer/requirements.in trainer/requirements.txt trainer/requirements-gpu.in trainer/requirements-gpu.txt trainer/overrides.txt \
  trainer/image-constraints.txt ./
# Only vLLM for processors needs the override.
RUN grep -vxE "(${WITHOUT})(==.*)?" "${REQUIREMENTS}.in" > packages.in \
  && case "${REQUIREMENTS}" in requirements) override="--override overrides.txt" ;; *) override= ;; esac \
  && python3 -m venv --without-pip /opt/python \
  && UV_COMPILE_BYTECODE_TIMEOUT=600 /opt/uv/bin/uv pip install --python /opt/python/bin/python --no-cache --compile-bytecode \
    --only-binary :all: --constraints "${REQUIREMENTS}.txt" --constraints image-constraints.txt ${override} --requirements packages.in

FROM python
COPY --from=packages /opt/python /opt/python
WORKDIR /app
COPY LICENSE THIRD-PARTY-NOTICES.md ./
COPY trainer/trainyard_artifacts ./trainyard_artifacts
COPY trainer/trainyard_base_model ./trainyard_base_model
COPY trainer/trainyard_colocated ./trainyard_colocated
COPY trainer/trainyard_engine ./trainyard_engine
COPY trainer/trainyard_trainer ./trainyard_trainer
COPY trainer/models ./models
RUN /opt/python/bin/python -m compileall -q .
# The root file system is read-only. With a GPU, the container runtime mounts these parts of the driver. Which GPU a pod has is
# said by its resources, never by the image.
ENV PATH=/opt/python/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000:1000
