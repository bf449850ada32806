"""Where records live: the protocol, the backends and what keeps them safe."""
