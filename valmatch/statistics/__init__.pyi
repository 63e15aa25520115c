from valmatch.statistics.control_variates import Adjusted as Adjusted
from valmatch.statistics.control_variates import adjust as adjust
from valmatch.statistics.estimates import Estimate as Estimate
from valmatch.statistics.estimates import estimate as estimate
from valmatch.statistics.pairs import PairedDifference as PairedDifference
from valmatch.statistics.pairs import paired as paired
from valmatch.statistics.precision import Precision as Precision
from valmatch.statistics.precision import sequential_estimate as sequential_estimate
from valmatch.statistics.sequential_tests import SequentialTest as SequentialTest
from valmatch.statistics.sequential_tests import sequential_test as sequential_test

__all__: list[str]
