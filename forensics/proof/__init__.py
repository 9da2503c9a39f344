"""The walk behind `forensics.prove`: the environment, the seven properties, certificates and witnesses."""
