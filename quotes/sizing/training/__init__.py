"""The door to sizing training and fine-tuning of language models.

`training_options` answers for every accelerator, `explain_training` unfolds one answer; see docs/sizing/training.md.
"""

from quotes.sizing.training.calibration import TrainingCalibration, load_training_calibration
from quotes.sizing.training.explain import explain_training
from quotes.sizing.training.search import training_options

__all__ = ["TrainingCalibration", "explain_training", "load_training_calibration", "training_options"]
