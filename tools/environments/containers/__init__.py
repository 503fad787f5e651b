"""Containers, of this machine or of an engine elsewhere: docker, podman, apptainer."""
