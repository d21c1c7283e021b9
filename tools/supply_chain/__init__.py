"""What Holdfast is made of besides its own code: listed, and looked up for known weaknesses."""
